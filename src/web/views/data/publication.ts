/** What a commit says of the publication that made it. Nothing here is trusted: whoever may commit may write this. */

export interface CommitLike {
  readonly id: string
  readonly parents: readonly string[]
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
}

/** `claim`: the branch was about to move; `staged`: the last commit of a staging branch. */
export type CommitMaker = 'attempt' | 'actor' | 'claim' | 'evidence' | 'python' | 'other'

export interface Publication {
  readonly by: CommitMaker
  readonly run?: string
  readonly workflow?: string
  readonly workflowName?: string
  readonly task?: string
  readonly attempt?: number
  readonly worker?: string
  readonly actor?: string
  readonly codeVersion?: string
  readonly branch?: string
  /** The commit whose place it takes. */
  readonly replaces?: string
  /** Whether lakeFS compared the head. */
  readonly isFenced: boolean
  readonly refusal?: Refusal
}

export interface Refusal {
  readonly code: string
  readonly message: string
}

export function readPublication(commit: CommitLike): Publication {
  const { metadata } = commit
  const read = (key: string): string | undefined =>
    Object.hasOwn(metadata, `publish.${key}`) ? metadata[`publish.${key}`] : undefined
  const attempt = Number(read('attempt') ?? NaN)
  const refusal = readRefusal(read('evidence'))
  const told = {
    run: read('run'),
    workflow: read('workflow'),
    workflowName: read('workflow_name'),
    task: read('task'),
    attempt: Number.isSafeInteger(attempt) && attempt >= 0 ? attempt : undefined,
    worker: read('worker'),
    actor: read('actor'),
    codeVersion: read('code_version'),
    branch: read('branch'),
    replaces: read('replaces'),
    refusal,
  }
  const by = makerOf(commit, read)
  return { ...defined(told), by, isFenced: read('expected_head') !== undefined }
}

/** `ingest, attempt 1 by worker-2`; what the message says already is left out. */
export function sayWho({ by, task, attempt, worker, actor }: Publication, message: string): string {
  if (by === 'python') return 'a worker of the Python package'
  const isTold = task !== undefined && message.includes(task)
  if (actor !== undefined) return isTold || task === undefined ? actor : `${actor} for ${task}`
  const what = isTold ? [] : [task, attempt === undefined ? undefined : `attempt ${String(attempt)}`]
  const who = what.filter((part) => part !== undefined).join(', ')
  return [who, worker === undefined ? '' : who === '' ? worker : `by ${worker}`]
    .filter((part) => part !== '')
    .join(' ')
}

/**
 * The first line of the message. An attempt that took the place of an earlier one moved the branch to what it had staged: on the
 * branch that is its publication.
 */
export function headlineOf({ message }: CommitLike, { by }: Publication, isOnBranch: boolean): string {
  const [line = ''] = message.split('\n', 1)
  if (line === '') return 'no message'
  const isStaged = (by === 'attempt' || by === 'actor') && line.startsWith('Stage ')
  return isStaged && isOnBranch ? `Publish ${line.slice('Stage '.length)}` : line
}

function makerOf({ message, parents }: CommitLike, read: (key: string) => string | undefined): CommitMaker {
  if (read('evidence') !== undefined) return 'evidence'
  if (read('claim') !== undefined) return 'claim'
  if (read('actor') !== undefined) return 'actor'
  if (read('run') !== undefined) return 'attempt'
  const isOfPython = message === 'perago try' || message.startsWith("Merge 'perago-staging-")
  return isOfPython && parents.length === 1 ? 'python' : 'other'
}

function readRefusal(text: string | undefined): Refusal | undefined {
  if (text === undefined) return undefined
  try {
    const { code, message } = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown }
    if (typeof code === 'string' && typeof message === 'string') return { code, message }
  } catch {
    // Told below.
  }
  return { code: 'unreadable', message: 'The record of the refusal cannot be read.' }
}

function defined<T extends Readonly<Record<string, unknown>>>(
  given: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }
}
