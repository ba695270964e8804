/**
 * The loop of tries around a request.
 *
 * - Only what was not done, or is harmless to repeat, is tried again.
 * - When an earlier response was lost, a later "nothing was done" does not hold for the whole: the outcome is `uncertain`.
 * - What may be tried again is not given up while the server is known to be away: it waits, and has all its tries again.
 */

import type { Clock } from '../base/clock.ts'
import { errorKindOf, isPeragoError } from '../base/errors.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import { isRetryable, retry, type RetryPolicy } from '../base/retry.ts'
import type { Availability } from './availability.ts'
import { lostEarlier, type Subject } from './failures.ts'
import type { OperationRow, ServerTable } from './server-table.ts'

export interface TriesOptions<Name extends string> {
  readonly table: ServerTable<Name>
  readonly clock: Clock
  readonly retry?: Partial<RetryPolicy> | undefined
  readonly random?: Random | undefined
  readonly logger?: Logger | undefined
  /** Without it, a request fails when its tries are used up, whatever is known of the server. */
  readonly availability?: Availability | undefined
}

export type Attempted<Name extends string> = Subject<Name> & { readonly signal?: AbortSignal | undefined }

interface Earlier {
  /** The failure of the first try that may have taken effect. */
  lost: unknown
}

/** The class of `subject` decides what is repeated. */
export async function tryUntilSettled<Name extends string, Value>(
  options: TriesOptions<Name>,
  subject: Attempted<Name>,
  once: () => Promise<Value>,
): Promise<Value> {
  const { table } = options
  const earlier: Earlier = { lost: undefined }
  try {
    for (;;) {
      try {
        return await tryRepeatedly(options, subject, once, earlier)
      } catch (error) {
        if (errorKindOf(error) === 'uncertain') earlier.lost ??= error
        if (!(await isBackAfter(options, error, subject))) throw error
      }
    }
  } catch (error) {
    const { lost } = earlier
    throw lost === undefined || settlesLostTry(table, lost, error)
      ? error
      : lostEarlier(table, subject, error)
  }
}

function tryRepeatedly<Name extends string, Value>(
  { table, clock, random, retry: policy, logger = silentLogger }: TriesOptions<Name>,
  { operation, signal }: Attempted<Name>,
  once: () => Promise<Value>,
  earlier: Earlier,
): Promise<Value> {
  const row = table.operations[operation]
  return retry(once, {
    policy: { ...policy, ...(isRepeatedByCaller(row) && { maxAttempts: 1 }) },
    clock,
    random,
    signal,
    shouldRetry: (error) => {
      if (errorKindOf(error) === 'uncertain') earlier.lost ??= error
      return isRepeatable(error, row)
    },
    onRetry: (notice) => {
      logger[table.retryLogLevel](`a request to ${table.server} is sent again`, { operation, ...notice })
    },
  })
}

/** Whether a failed request is to be tried anew, because its server was away and is back. */
async function isBackAfter<Name extends string>(
  { table, availability }: TriesOptions<Name>,
  error: unknown,
  { operation, signal }: Attempted<Name>,
): Promise<boolean> {
  const row = table.operations[operation]
  if (availability === undefined || isRepeatedByCaller(row) || !isRepeatable(error, row)) return false
  return availability.untilBack(signal)
}

function isRepeatedByCaller({ isPacedByCaller, isSentOnce }: OperationRow): boolean {
  return isPacedByCaller === true || isSentOnce === true
}

function isRepeatable(error: unknown, row: OperationRow): boolean {
  return isRetryable(error) || (errorKindOf(error) === 'uncertain' && row.class === 'idempotent')
}

/** After a lost response, only a clear one of this server says what became of the request. */
function settlesLostTry({ wrongServer }: ServerTable, lost: unknown, error: unknown): boolean {
  if (!isPeragoError(error) || error.kind === 'unavailable' || error.kind === 'defect') return false
  if (error.kind === 'uncertain') return isPeragoError(lost) && lost.code === error.code
  return error.code !== wrongServer.code
}
