/**
 * Branch writes have places and connections of their own, so that none of them ever queues behind a transfer. Whoever has a
 * place has a connection: within a place requests go one after the other, and there are as many connections as places.
 */

import { UnavailableError } from '../base/errors.ts'
import type { CallOptions, WriteOptions } from '../publication/ports.ts'
import { describe, type Subject } from '../remote/failures.ts'
import type { RepoContext } from './context.ts'
import { LAKEFS_CONFIRMATIONS_MAX } from './limits.ts'
import { LAKEFS, type OperationName } from './operations.ts'

const LANE = { lane: 'branch-write' } as const

/** The connections for a call: those of branch writes where the call belongs to one. */
export function laneOf(context: RepoContext, options: CallOptions | undefined): RepoContext {
  return options?.lane === LANE.lane ? { ...context, server: context.lakefs.writes.server } : context
}

/** Waits for a place among the branch writes, and holds it until `write` has ended. */
export async function inWriteLane<T>(
  context: RepoContext,
  { signal }: CallOptions,
  write: (lane: RepoContext, call: CallOptions) => Promise<T>,
): Promise<T> {
  const call = { ...LANE, signal }
  return context.lakefs.writes.places.run(() => write(laneOf(context, call), call), { signal })
}

/**
 * Sends a branch write once, right after its guard has confirmed it. `undefined`: the guard does not want it, and nothing
 * was sent. Where too much time passed before the first byte (the connection was slow, this process was), it is confirmed
 * again, a few times.
 */
export async function sendGuarded<T>(
  { guard, signal }: WriteOptions,
  subject: Subject<OperationName>,
  send: (mayBegin: (() => boolean) | undefined) => Promise<T>,
): Promise<T | undefined> {
  if (guard === undefined) return send(undefined)
  for (let count = 0; count < LAKEFS_CONFIRMATIONS_MAX; count++) {
    if (!(await guard.confirm({ ...LANE, signal }))) return undefined
    const said = { mayBegin: true }
    try {
      return await send(() => (said.mayBegin = guard.mayBegin()))
    } catch (error) {
      if (said.mayBegin) throw error
    }
  }
  throw new UnavailableError(
    'lakefs/not-sent',
    `${describe(LAKEFS, subject)}: it was confirmed ${LAKEFS_CONFIRMATIONS_MAX} times, and each time too long ago when it could be sent`,
    {
      details: { ...subject.target },
      next: 'See whether this machine or the network to lakeFS is overloaded.',
    },
  )
}
