/** What units do in a test, instead of their work. Plain data, and functions of the test. */

import { InvalidError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import { parseDuration } from '../../base/quantities.ts'
import type { BodyWorkspace } from '../../tasks/task-definition.ts'

/** Milliseconds, or a text such as `90min` or `3d`. */
export type TestDuration = number | string

/** What a function in the place of a unit is given. */
export interface StandInContext {
  /** As the schema of the task reads them. */
  readonly params: unknown
  /** The whole input of the attempt. */
  readonly input: JsonObject
  /** 1, and one more with each retry. */
  readonly attempt: number
  /** Of a task with a workspace: what is written to its directory is published. */
  readonly workspace: BodyWorkspace | undefined
  readonly log: Logger
}

/** Stands in for a unit; its result is the unit's. */
export type StandIn = (context: StandInContext) => unknown

export interface Timing {
  /** How long an attempt takes, in the time of the test. Default: none. */
  readonly after?: TestDuration
  /** The worker goes on working, but its lease is not renewed: it may come back too late. */
  readonly losesLease?: boolean
}

/** One attempt. */
export type AttemptScript =
  | { readonly is: 'call'; readonly body: StandIn; readonly afterMs: number; readonly losesLease: boolean }
  | { readonly is: 'real'; readonly afterMs: number; readonly losesLease: boolean }
  | { readonly is: 'hang' }
  | { readonly is: 'lose-worker'; readonly after: AttemptScript | undefined }

/** One script for each attempt in turn; the last one for all that follow. */
export interface Behaviour {
  readonly attempts: readonly AttemptScript[]
}

export type UnitBehaviour = Behaviour | StandIn

/**
 * The unit completes with this result. A person who completes a human unit is given in the same way.
 *
 * ```ts
 * units: { count: answer({ rows: 3 }), approve: answer({ by: 'Anna' }, { after: '2h' }) }
 * ```
 */
export function answer(result: unknown = {}, timing: Timing = {}): Behaviour {
  return call(() => structuredClone(result), timing)
}

/** The unit fails with this message; with `terminal` it is not retried. */
export function fail(
  message = 'the test lets it fail',
  { terminal = false, ...timing }: Timing & { readonly terminal?: boolean } = {},
): Behaviour {
  return call(() => {
    throw terminal ? new InvalidError('task/terminal', message) : new Error(message)
  }, timing)
}

/** Takes as long as it says; then the function is called. */
export function call(body: StandIn, timing: Timing = {}): Behaviour {
  return { attempts: [{ is: 'call', body, ...timed(timing) }] }
}

/** The function of the declared task itself. It is the default of every task that the test knows. */
export function real(timing: Timing = {}): Behaviour {
  return { attempts: [{ is: 'real', ...timed(timing) }] }
}

/** The worker lives and never answers: the time limit of the unit ends the attempt. */
export function hang(): Behaviour {
  return { attempts: [{ is: 'hang' }] }
}

/**
 * The worker dies, and its lease runs out. With a behaviour, it dies after it has done that, and before it could say so: what
 * the attempt has published by then stands on the branch.
 */
export function loseWorker(after?: UnitBehaviour): Behaviour {
  const [script] = after === undefined ? [] : attemptsOf(after)
  return { attempts: [{ is: 'lose-worker', after: script }] }
}

/**
 * The first attempt behaves as the first one says, and so on; the last one holds for all further attempts.
 *
 * ```ts
 * units: { load: inTurn(fail('the warehouse is away'), loseWorker(), answer({ rows: 3 })) }
 * ```
 */
export function inTurn(...behaviours: readonly [UnitBehaviour, ...UnitBehaviour[]]): Behaviour {
  return { attempts: behaviours.flatMap(attemptsOf) }
}

/** Fails so many times, then behaves as given. */
export function failTimes(times: number, then: UnitBehaviour, message?: string): Behaviour {
  const failures = Array.from({ length: times }, () => fail(message))
  return { attempts: [...failures, then].flatMap(attemptsOf) }
}

function attemptsOf(behaviour: UnitBehaviour): readonly AttemptScript[] {
  return typeof behaviour === 'function' ? call(behaviour).attempts : behaviour.attempts
}

/** What an attempt does; the first attempt has the number 1. */
export function scriptOf(behaviour: UnitBehaviour, attempt: number): AttemptScript {
  const scripts = attemptsOf(behaviour)
  return scripts[Math.min(attempt, scripts.length) - 1] ?? { is: 'hang' }
}

/** Throws where it is neither a number nor a duration. */
export function durationMs(duration: TestDuration): number {
  const read = typeof duration === 'number' ? duration : parseDuration(duration)
  if (read !== undefined && read >= 0) return read
  throw new InvalidError('testing/bad-duration', `read ${JSON.stringify(duration)}: it is no duration`, {
    next: 'Write milliseconds as a number, or a text such as "90min" or "3d".',
  })
}

/** The same result, as JSON. */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? {})) as Json
}

function timed({ after = 0, losesLease = false }: Timing) {
  return { afterMs: durationMs(after), losesLease }
}
