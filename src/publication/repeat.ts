/** Steps that may be done twice without harm, repeated when their answer is lost. */

import type { Clock } from '../base/clock.ts'
import { errorKindOf } from '../base/errors.ts'
import { PUBLICATION_REPEATS_MAX } from './limits.ts'
import type { Random } from '../base/random.ts'
import { retry } from '../base/retry.ts'

export interface RepeatOptions {
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * For reads and for writes whose second doing changes nothing. Only a lost answer is repeated here: what surely was
 * not done the repository's own client has tried again already, within its own budget.
 */
export function repeatWhenLost<T>(operation: () => Promise<T>, options: RepeatOptions): Promise<T> {
  const { clock, random, signal } = options
  return retry(operation, {
    policy: { maxAttempts: PUBLICATION_REPEATS_MAX },
    shouldRetry: (error) => errorKindOf(error) === 'uncertain',
    ...(clock && { clock }),
    ...(random && { random }),
    ...(signal && { signal }),
  })
}
