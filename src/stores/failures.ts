/** The two kinds of failure of a server's store: nothing happened, or the outcome is unknown. */

import { InvalidError, UnavailableError, UncertainError } from '../base/errors.ts'
import { oneLine, shortened } from '../base/one-line.ts'
import type { CheckedBatch } from './backend.ts'

/** The call that failed. */
export interface Work {
  /** The kind of store. */
  readonly store: string
  readonly doing: string
  /** The keys it changes; empty for reads. */
  readonly changes: readonly string[]
}

const SHOWN_MAX_CHARS = 300
const KEYS_SHOWN = 5

export function workOfBatch(store: string, batch: CheckedBatch): Work {
  return { store, doing: 'write a batch', changes: batch.operations.map(({ key }) => key) }
}

/** A call that changes nothing. */
export function reading(store: string, doing: string): Work {
  return { store, doing, changes: [] }
}

/** Nothing happened. */
export function notDone(work: Work, cause: unknown): UnavailableError {
  return new UnavailableError('stores/unreachable', `${work.doing} (${work.store}): ${wordsOf(cause)}`, {
    details: { store: work.store },
    next: 'Check that the server is running and reachable, then try again.',
    cause,
  })
}

/** The server has refused it for a reason that stays: nothing was done. */
export function refusedByServer(
  { doing, store }: Work,
  answer: string,
  { details, next, cause }: { readonly details?: object; readonly next: string; readonly cause: unknown },
): InvalidError {
  return new InvalidError('stores/refused-by-server', `${doing} (${store}): the server answered${answer}`, {
    details: { store, ...details },
    next,
    cause,
  })
}

/** It was sent, and the response was lost. A read changes nothing, so it counts as not done. */
export function answerLost(work: Work, cause: unknown): UnavailableError | UncertainError {
  if (work.changes.length === 0) return notDone(work, cause)
  const keys = work.changes.slice(0, KEYS_SHOWN)
  return new UncertainError(
    'stores/answer-lost',
    `${work.doing} (${work.store}): it was sent, but the response was lost: ${wordsOf(cause)}`,
    {
      read: keys.map((key) => JSON.stringify(key)).join(', '),
      details: { store: work.store, keys },
      next: `Read ${JSON.stringify(keys[0])}: a batch happens as a whole or not at all.`,
      cause,
    },
  )
}

/** The driver's message, on one line, shortened. */
function wordsOf(cause: unknown): string {
  const message =
    cause instanceof AggregateError
      ? String(cause.errors[0])
      : cause instanceof Error
        ? cause.message
        : String(cause)
  return shortened(
    oneLine(message === '' ? String((cause as { code?: unknown }).code) : message),
    SHOWN_MAX_CHARS,
  )
}

/**
 * Waits for a call of a driver until the time is over or the signal is aborted. The call itself continues then, unless
 * `giveUp` stops it.
 */
export async function bounded<T>(
  running: Promise<T>,
  bound: {
    readonly timeoutMs: number
    readonly signal: AbortSignal | undefined
    readonly giveUp?: () => void
  },
): Promise<T> {
  const { timeoutMs, signal, giveUp } = bound
  let stop = (): void => undefined
  const late = new Promise<never>((_, reject) => {
    const end = (reason: Error): void => {
      reject(reason)
      giveUp?.()
    }
    const timer = setTimeout(() => end(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
    const onAbort = (): void => end(new Error('it was aborted', { cause: signal?.reason }))
    signal?.addEventListener('abort', onAbort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([running, late])
  } finally {
    stop()
    // A later failure must not be an unhandled rejection.
    running.catch(() => undefined)
  }
}
