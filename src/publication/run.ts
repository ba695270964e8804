/** One publication under way: the request with every choice made, shared by its steps. */

import { systemClock } from '../base/clock.ts'
import type { CommitRef } from '../base/ids.ts'
import type { AttemptSnapshot } from '../fences/attempt-snapshot.ts'
import { describeCommit } from './commit-metadata.ts'
import type { StagingSite } from './open-staging.ts'
import type { Metadata } from './ports.ts'
import type { PublicationRequest } from './publication.ts'
import { softStrategy } from './soft-strategy.ts'
import { stagingBranchName } from './staging-name.ts'
import { createStepRecorder } from './steps.ts'
import type { PublishStrategy } from './strategy.ts'

export interface PublicationRun extends StagingSite {
  readonly request: PublicationRequest
  readonly strategy: PublishStrategy
  readonly metadata: Metadata
}

export function openRun(request: PublicationRequest): PublicationRun {
  const { repo, guard, task, target } = request
  const { attempt } = guard
  const { inputRef } = target
  return {
    ...openSite({ ...request, attempt, inputRef }),
    request,
    strategy: request.strategy ?? softStrategy(repo),
    metadata: describeCommit({ attempt, task, inputRef }),
  }
}

export interface SiteOrder extends Pick<
  PublicationRequest,
  'repo' | 'task' | 'observer' | 'clock' | 'random' | 'signal'
> {
  readonly attempt: AttemptSnapshot
  readonly inputRef: CommitRef
}

export function openSite(order: SiteOrder): StagingSite {
  const { repo, attempt, task, inputRef, observer, clock = systemClock, random, signal } = order
  return {
    repo,
    inputRef,
    steps: createStepRecorder({ clock, observer, signal }),
    stagingBranch: stagingBranchName({ ...attempt, ...task }),
    call: signal === undefined ? {} : { signal },
    repeat: { clock, random, signal },
  }
}
