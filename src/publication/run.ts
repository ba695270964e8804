/** One publication under way: the request with every choice made, shared by its steps. */

import { systemClock } from '../base/clock.ts'
import type { BranchName } from '../base/ids.ts'
import { describeCommit } from './commit-metadata.ts'
import type { CallOptions, Metadata } from './ports.ts'
import type { PublicationRequest } from './publication.ts'
import type { RepeatOptions } from './repeat.ts'
import { softStrategy } from './soft-strategy.ts'
import { stagingBranchName } from './staging-name.ts'
import { createStepRecorder, type StepRecorder } from './steps.ts'
import type { PublishStrategy } from './strategy.ts'

export interface PublicationRun {
  readonly request: PublicationRequest
  readonly strategy: PublishStrategy
  readonly steps: StepRecorder
  readonly stagingBranch: BranchName
  readonly metadata: Metadata
  /** The caller's signal, as calls and repeats take it. */
  readonly call: CallOptions
  readonly repeat: RepeatOptions
}

export function openRun(request: PublicationRequest): PublicationRun {
  const { repo, guard, task, target, clock = systemClock, random, signal } = request
  const { attempt } = guard
  return {
    request,
    strategy: request.strategy ?? softStrategy(repo),
    steps: createStepRecorder({ clock, observer: request.observer, signal }),
    stagingBranch: stagingBranchName({ ...attempt, ...task }),
    metadata: describeCommit({ attempt, task, inputRef: target.inputRef }),
    call: signal === undefined ? {} : { signal },
    repeat: { clock, random, signal },
  }
}
