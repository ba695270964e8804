/** The commit that a branch or tag points at, asked for once its row is in sight. A commit never changes, so it is kept. */

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readCommit, type Commit } from './reading.ts'

const KEPT_MAX = 2_000
const kept = new Map<string, Promise<Commit | undefined>>()

function readKept(repository: string, commit: string): Promise<Commit | undefined> {
  const key = `${repository}/${commit}`
  const known = kept.get(key)
  if (known !== undefined) return known
  if (kept.size >= KEPT_MAX) kept.clear()
  // Shared by several rows, so that none of them may end it.
  const asked = readCommit(repository, commit, new AbortController().signal)
  kept.set(key, asked)
  asked.catch(() => kept.delete(key))
  return asked
}

export function HeadOf({
  repository,
  commit,
  children,
}: {
  readonly repository: string
  readonly commit: string
  readonly children: (head: Commit) => ComponentChildren
}) {
  const [found, setFound] = useState<{ head?: Commit | undefined; isGone?: boolean }>({})
  useEffect(() => {
    let isOver = false
    readKept(repository, commit).then(
      (head) => isOver || setFound({ head }),
      () => isOver || setFound({ isGone: true }),
    )
    return () => {
      isOver = true
    }
  }, [repository, commit])
  if (found.head !== undefined) return <>{children(found.head)}</>
  return <span class="faint">{found.isGone === true ? 'not readable' : '…'}</span>
}
