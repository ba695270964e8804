/**
 * A watch: reads a store's changes from a cursor on, and reports a gap where changes are no longer stored.
 *
 * It polls, so a slow watcher uses no memory; it falls behind until changes it has not read are deleted.
 */

import { isPeragoError, UnavailableError } from '../base/errors.ts'
import { STORE_WATCH_PATIENCE_MS } from './limits.ts'
import { retry } from '../base/retry.ts'
import type { WatchNotice } from '../core/ports.ts'
import type { ChangeFeed } from './backend.ts'

/** The elapsed time is the limit, not the number of tries. */
const TRIES_MAX = 1_000_000
const PATIENCE = {
  maxAttempts: TRIES_MAX,
  maxElapsedMs: STORE_WATCH_PATIENCE_MS,
  firstDelayMs: 50,
  maxDelayMs: 2_000,
}

export interface FollowOptions {
  readonly name: string
  readonly after: string | undefined
  readonly signal: AbortSignal
}

export async function* followChanges(
  feed: ChangeFeed,
  { name, after, signal }: FollowOptions,
): AsyncGenerator<WatchNotice, void, undefined> {
  let cursor = after
  const patiently = <T>(operation: () => Promise<T>): Promise<T> =>
    retry(operation, { policy: PATIENCE, signal }).catch((error: unknown) => {
      throw isPeragoError(error) && error.kind === 'unavailable' ? outOfPatience(name, cursor, error) : error
    })
  try {
    const start = cursor ?? (await patiently(() => feed.end(signal)))
    cursor = start
    yield { kind: 'ready', cursor: start }
    for (let at = start; !signal.aborted; cursor = at) {
      const place = at
      const read = await patiently(() => feed.read(place, signal))
      if (read === 'lost') {
        at = await patiently(() => feed.end(signal))
        yield { kind: 'gap', cursor: at }
        continue
      }
      at = read.cursor
      if (read.changes.length > 0) yield { kind: 'changes', changes: read.changes, cursor: at }
      else if (!read.more) await patiently(() => feed.wait(at, signal))
    }
  } catch (error) {
    // The caller ended the watch: no error.
    if (!signal.aborted) throw error
  }
}

function outOfPatience(name: string, cursor: string | undefined, cause: unknown): UnavailableError {
  return new UnavailableError(
    'stores/watch-failed',
    `watch (${name}): the store did not answer for ${STORE_WATCH_PATIENCE_MS} ms`,
    { details: { store: name, cursor }, next: 'Watch again from the cursor when the store responds.', cause },
  )
}
