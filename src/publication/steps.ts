/** The steps of a publication, as its observer is told of them. */

import type { StepEvent, StepObserver } from '../base/steps.ts'

export const PUBLICATION_STEPS = [
  'attempt-fence',
  'record-result',
  'read-ledger',
  'open-staging',
  'upload',
  'commit-staging',
  'verify-staging',
  'read-facts',
  'publish-fence',
  'keep-superseded',
  'merge',
  'replace',
  'relocate',
  'verify',
  'keep-evidence',
  'clean-up',
] as const
export type PublicationStep = (typeof PUBLICATION_STEPS)[number]

export type PublicationEvent = StepEvent<PublicationStep>
export type PublicationObserver = StepObserver<PublicationStep>
