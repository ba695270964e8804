/**
 * Who made a commit, as the commit itself tells. For people: no fence reads it. Workers of the Python package leave no metadata; their
 * commits are told by their messages, which nobody else has reason to write.
 */

import type { CommitRef } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import type { CommitRecord } from '../publication/ports.ts'
import { STAGING_PREFIXES } from '../publication/staging-name.ts'
import { RECOVERY_PUBLISHERS_NAMED } from './limits.ts'

/** `perago`: a publication of ours; `other`: by hand, or by a tool that perago does not know. */
export type CommitMaker = 'perago' | 'claim' | 'python' | 'other'

export function makerOf(commit: CommitRecord): CommitMaker {
  const { metadata } = commit
  if (metadata['publish.claim' satisfies MetadataKey] !== undefined) return 'claim'
  if (metadata['publish.run' satisfies MetadataKey] !== undefined) return 'perago'
  return isOfPython(commit) ? 'python' : 'other'
}

/** What the Python package calls a staged commit, which is the head where it has replaced one. */
const PYTHON_STAGED = 'perago try'
/** What lakeFS calls a merge without a message: the Python package gives none. */
const PYTHON_MERGED = `Merge '${STAGING_PREFIXES[0]}`

/** Its merges are squashed; one with a second parent was merged by somebody else. */
function isOfPython({ message, parents }: CommitRecord): boolean {
  return parents.length === 1 && (message === PYTHON_STAGED || message.startsWith(PYTHON_MERGED))
}

/** Somebody who has published without a hard fence. */
export interface UnfencedPublisher {
  /** `task`: workers that run it; `actor`: publications without an attempt; `python`: workers of the Python package, which know no fence. */
  readonly kind: 'task' | 'actor' | 'python'
  /** The reference name of the task, or the actor. */
  readonly name: string
  readonly commits: number
  readonly newest: CommitRef
  /** The worker id of the newest. */
  readonly worker: string | undefined
}

/** Counts those who publish without a hard fence; commits are given newest first. */
export class UnfencedPublishers {
  readonly #found = new Map<string, UnfencedPublisher>()

  note(commit: CommitRecord): void {
    const { ref, metadata } = commit
    const read = (key: MetadataKey): string | undefined => metadata[key]
    const maker = makerOf(commit)
    if (maker === 'claim' || maker === 'other' || read('publish.expected_head') !== undefined) return
    const [kind, name] =
      maker === 'python'
        ? (['python', 'the Python package'] as const)
        : read('publish.actor') === undefined
          ? (['task', read('publish.task') ?? ''] as const)
          : (['actor', read('publish.actor') ?? ''] as const)
    const key = `${kind} ${name}`
    const known = this.#found.get(key)
    if (known === undefined && this.#found.size === RECOVERY_PUBLISHERS_NAMED) return
    this.#found.set(
      key,
      known === undefined
        ? { kind, name, commits: 1, newest: ref, worker: read('publish.worker') }
        : { ...known, commits: known.commits + 1 },
    )
  }

  get all(): readonly UnfencedPublisher[] {
    return [...this.#found.values()]
  }
}
