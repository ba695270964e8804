/** Where commits stand, seen from each other; by their first parents. */

import { errorKindOf } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from '../publication/ports.ts'
import type { TaskRecord } from '../worker/ports.ts'
import { RECOVERY_HISTORY_COMMITS } from './limits.ts'
import type { SituationFacts } from './situation.ts'

export async function placeHead(
  repo: VersionedRepo,
  { head, inputRef }: { readonly head: CommitRecord; readonly inputRef: CommitRef },
  call: CallOptions,
): Promise<SituationFacts['stand']> {
  if (head.ref === inputRef) return 'at-input'
  if (head.parents[0] === inputRef) return 'above-input'
  if (!(await isBelow(repo, inputRef, head.ref, call))) return 'elsewhere'
  return isForwardOn(head, inputRef) ? 'forward' : 'beyond'
}

/** On a branch that takes no reset a replacement stands on what it replaces, and says so. */
function isForwardOn({ parents, metadata }: CommitRecord, inputRef: CommitRef): boolean {
  const replaced = metadata['publish.replaces' satisfies MetadataKey]
  return replaced === parents[0] && metadata['publish.input' satisfies MetadataKey] === inputRef
}

export async function placeOutput(
  repo: VersionedRepo,
  { head, outputRef }: { readonly head: CommitRecord; readonly outputRef: CommitRef },
  call: CallOptions,
): Promise<SituationFacts['output']> {
  if (head.ref === outputRef) return 'head'
  if (await isBelow(repo, outputRef, head.ref, call)) return 'history'
  return (await isBelow(repo, head.ref, outputRef, call)) ? 'ahead' : 'off-branch'
}

/** Told by the metadata, which decides nothing about what a fence allows. */
export function whoseIs({ metadata }: CommitRecord, task: TaskRecord | undefined): SituationFacts['head'] {
  if (metadata['publish.run' satisfies MetadataKey] === undefined) return 'foreign'
  if (task === undefined) return 'other'
  const expected = {
    'publish.workflow': task.workflowId,
    'publish.task': task.referenceTaskName,
    'publish.iteration': String(task.iteration),
  } satisfies Partial<Record<MetadataKey, string>>
  return Object.entries(expected).every(([key, value]) => metadata[key] === value) ? 'own' : 'other'
}

async function isBelow(
  repo: VersionedRepo,
  below: CommitRef,
  top: CommitRef,
  call: CallOptions,
): Promise<boolean> {
  const limits = { firstParent: true, limit: RECOVERY_HISTORY_COMMITS, stopAt: below }
  try {
    for await (const { ref } of repo.log(top, { ...call, ...limits })) if (ref === below) return true
  } catch (error) {
    // A commit that does not exist, or does not any more, is below nothing.
    if (errorKindOf(error) !== 'missing') throw error
  }
  return false
}
