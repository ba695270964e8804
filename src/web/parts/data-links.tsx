/** Links to what is in repositories, where this server shows them. */

import { addressOf } from '../route.ts'
import { session } from '../session.ts'

interface CommitProps {
  readonly repository: string
  readonly id: string
  readonly digits?: number
}

export function Commit({ repository, id, digits = 8 }: CommitProps) {
  const text = <code title={id}>{id.slice(0, digits)}</code>
  return showsData() ? <a href={addressOf(['data', repository, 'commits', id])}>{text}</a> : text
}

export function Branch({ repository, branch }: { readonly repository: string; readonly branch: string }) {
  const text = `${repository}/${branch}`
  return showsData() ? (
    <a href={addressOf(['data', repository, 'branches', branch])}>{text}</a>
  ) : (
    <span>{text}</span>
  )
}

function showsData(): boolean {
  return session.value?.shows.includes('repositories') === true
}

export interface WorkspaceRef {
  readonly repository: string
  readonly branch: string
  readonly ref: string
}

/** The commit that an input or output names, in the form in which tasks pass it on. */
export function workspaceOf(value: unknown): WorkspaceRef | undefined {
  const { workspace } = (value ?? {}) as { readonly workspace?: Partial<WorkspaceRef> | null }
  const { repository, branch, ref } = workspace ?? {}
  const isGiven = [repository, branch, ref].every((part) => typeof part === 'string')
  return isGiven ? ({ repository, branch, ref } as WorkspaceRef) : undefined
}
