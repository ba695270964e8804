/** Why a publication of this very task is not adopted. The body does not run again: that would publish a second time. */

import { RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'

export type NotAdopted =
  | 'no-ledger'
  | 'unreadable'
  | 'unsigned'
  | 'unknown-key'
  | 'forged'
  | 'elsewhere'
  | 'no-result'
  | 'result-lost'

const WHY: Readonly<Record<NotAdopted, string>> = {
  'no-ledger': 'it has no ledger, as from an earlier version of perago',
  unreadable: 'its ledger is damaged, or of a later version',
  unsigned: 'its ledger is not signed, and keys are configured here',
  'unknown-key': 'its ledger is signed with a key that is not configured here',
  forged: 'the signature of its ledger is not that of the key it names',
  elsewhere: 'its ledger is of a publication on another input or branch',
  'no-result': 'its ledger has no result',
  'result-lost': 'the record of its result is missing, or is another one',
}

export class NotAdoptedError extends RefusedError {
  readonly reason: NotAdopted

  constructor(
    reason: NotAdopted,
    { outputRef, ...details }: { readonly outputRef: CommitRef } & Readonly<Record<string, unknown>>,
  ) {
    super('publication/not-adopted', `adopt ${outputRef}, a publication of this task: ${WHY[reason]}`, {
      details: { reason, outputRef, ...details },
      next: 'Move the branch back to the input so that the task runs again, or declare the task with onRetry: "replace".',
    })
    this.reason = reason
  }
}
