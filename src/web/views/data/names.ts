/** Branches and tags that perago makes, told by their names. */

export type BranchGroup = 'people' | 'staging' | 'actor' | 'look'

const PREFIXES: readonly (readonly [string, BranchGroup])[] = [
  ['perago-staging-', 'staging'],
  ['perago-actor-', 'actor'],
  ['perago-look-', 'look'],
]
const SUPERSEDED = 'perago-superseded-'

export function groupOf(branch: string): BranchGroup {
  return PREFIXES.find(([prefix]) => branch.startsWith(prefix))?.[1] ?? 'people'
}

/** The commit that a tag keeps after it has left its branch. */
export function supersededBy(tag: string): string | undefined {
  return tag.startsWith(SUPERSEDED) ? tag.slice(SUPERSEDED.length) : undefined
}

/** Whose a staging branch is. */
export interface StagingOwner {
  /** Absent where its end cannot be told from the task's beginning. */
  readonly workflow?: string
  readonly task: string
  readonly retry: number
  readonly execution: string
}

const STAGING = /^perago-staging-(.+)-seq-\d+-iteration-\d+-task-id-(.+)-retry-(\d+)-exec-(.+)$/
const UUID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(.+)$/i

/** `undefined`: a name of another form, or one that can be read in two ways. */
export function readStagingOwner(branch: string): StagingOwner | undefined {
  const [, of = '', taskId = '', retry = '', execution = ''] = STAGING.exec(branch) ?? []
  if (
    of === '' ||
    /-seq-\d+-iteration-\d+-task-id-/.test(of) ||
    /-retry-\d+-exec-/.test(`${taskId} ${execution}`)
  )
    return undefined
  const [, workflow, task = of] = UUID.exec(of) ?? []
  return { ...(workflow !== undefined && { workflow }), task, retry: Number(retry), execution }
}

/** `operator-orders`: the name joins actor and subject in the same way as their own words. */
export function readActorOwner(branch: string): string | undefined {
  return /^perago-actor-(.+)-exec-[^-].*$/.exec(branch)?.[1]
}
