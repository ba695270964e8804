/**
 * One definition of work, however it was written: a pipeline, a plan, a DAG or a definition of Conductor becomes this graph,
 * and only this graph is interpreted. Plain JSON; fields that Conductor has too are named as there.
 */

import type { Json, JsonObject } from '../../base/json.ts'

export interface Graph {
  readonly name: string
  readonly version: number
  /** In the order in which they were written. */
  readonly units: readonly Unit[]
  readonly inputTemplate: JsonObject
  /** `undefined`: the output of the task that was scheduled last. */
  readonly outputParameters: JsonObject | undefined
  readonly restartable: boolean
  /** 0: none. */
  readonly timeoutSeconds: number
  readonly timeoutPolicy: 'TIME_OUT_WF' | 'ALERT_ONLY'
  /** What follows a failure, and what is checked before the end. Default: as in Conductor, it fails; nothing is checked. */
  readonly policy?: Policy
}

/** What an execution does when a unit has failed for good, and before its success counts. */
export interface Policy {
  /** `fail`: nothing is undone. `rollback`: units that completed are undone. */
  readonly onFailure: 'fail' | 'rollback'
  /** How often it may run from the beginning; a rollback comes before each new time. */
  readonly attempts: number
  /** Checks the results when all units have ended. If it fails, all units are undone. */
  readonly verify?: Verification
  /** Before all that: state and branches go back, and it runs on from there. Needs an engine over a store. */
  readonly recover?: Recovery
}

/** What goes back when a unit has failed for good: that unit, its phase, or all since the last good checkpoint. */
export interface Recovery {
  readonly back: 'unit' | 'phase' | 'checkpoint'
  /** How often in one run; the next failure counts. */
  readonly times: number
}

/** A task, or an expression over events and variables. */
export type Verification =
  { readonly name: string; readonly inputParameters?: JsonObject } | { readonly expression: string }

/** One piece of work of a graph, or one decision about the others. */
export type Unit =
  | TaskUnit
  | WaitUnit
  | HumanUnit
  | SwitchUnit
  | EachUnit
  | WhileUnit
  | ChildUnit
  | JoinUnit
  | SetUnit
  | EndUnit

export type UnitType = Unit['type']

export interface UnitBase {
  /** Unique in its graph, nested units included. */
  readonly taskReferenceName: string
  /** With `${…}` expressions, evaluated when it is scheduled. */
  readonly inputParameters: JsonObject
  /** The units that end before it starts. Where there are some and all of them were skipped, it is skipped too. */
  readonly after: readonly string[]
  /** It runs only if that SWITCH, which is in `after`, chose this case; otherwise it is skipped. */
  readonly onlyIn?: { readonly unit: string; readonly case: string }
  /** An expression over events and variables of the execution: it is not scheduled before this holds. */
  readonly startWhen?: string
  /** An expression, evaluated once when it could start: false skips it. */
  readonly onlyIf?: string
  /** Seconds between being ready and being handed out. */
  readonly startDelay?: number
  /** A failure for good does not end the execution. */
  readonly optional?: boolean
  /** A label; without one, its layer. Checkpoints and limits are per phase. */
  readonly phase?: string
  readonly planning?: Planning
  /** Undoes it during a rollback: the task type that is run, with the unit's own output as its input. */
  readonly undo?: Undo
}

export interface Undo {
  readonly name: string
  /** Added to the unit's output. */
  readonly inputParameters?: JsonObject
  /** Lower goes first. Default: 0. Among equals the unit that completed last goes first. */
  readonly order?: number
}

/** What scheduling knows of a unit. Only the order of hand-outs depends on it, never a result. */
export interface Planning {
  /** Higher goes first. Default: 0. */
  readonly priority?: number
  /** 0 to 1. */
  readonly complexity?: number
  /** How much is lost if it fails, 0 to 1. */
  readonly impact?: number
  readonly demand?: Demand
  /** Expected duration; history replaces it. */
  readonly expectedMs?: number
  /** Units of one key go to one worker where possible, such as a branch whose directory is kept warm. */
  readonly affinity?: string
}

export interface Demand {
  readonly cpu?: number
  readonly memoryBytes?: number
  readonly gpu?: number
}

/** A task that a worker polls for. */
export interface TaskUnit extends UnitBase {
  readonly type: 'SIMPLE'
  /** The task type that is polled. */
  readonly name: string
  /** Each overrides that of the task definition. */
  readonly retryCount?: number
  readonly retryLogic?: 'FIXED' | 'EXPONENTIAL_BACKOFF' | 'LINEAR_BACKOFF'
  readonly retryDelaySeconds?: number
  readonly maxRetryDelaySeconds?: number
  readonly backoffJitterMs?: number
  readonly timeoutSeconds?: number
  readonly responseTimeoutSeconds?: number
  /** Units of one target share a circuit breaker. Default: none. */
  readonly target?: string
}

/** Waits for a time, for events, or for the first of them. */
export interface WaitUnit extends UnitBase {
  readonly type: 'WAIT'
  readonly seconds?: number
  /** A time in ISO 8601, or an expression for one. */
  readonly until?: string
  /** Event types. */
  readonly events?: readonly string[]
  /** Of several events: all, or the first one. Default: all. */
  readonly which?: 'all' | 'any'
  /** Fails (`TIMED_OUT`) when events have not come by then. */
  readonly timeoutSeconds?: number
}

/** Waits until somebody completes it. */
export interface HumanUnit extends UnitBase {
  readonly type: 'HUMAN'
  readonly timeoutSeconds?: number
}

/** Chooses a case: the text that the expression gives, or `default` where no case has this name. */
export interface SwitchUnit extends UnitBase {
  readonly type: 'SWITCH'
  /** A `${…}` expression over inputs and outputs. */
  readonly expression: string
  readonly cases: readonly string[]
}

/** Runs its units once for every item of a list. A reference inside has `__1`, `__2`, … added, as in Conductor. */
export interface EachUnit extends UnitBase {
  readonly type: 'EACH'
  /** A list, or an expression for one. Inside, `${REF.item}` and `${REF.index}` are those of the iteration. */
  readonly items: Json
  /** A longer list fails the unit. */
  readonly max: number
  /** Iterations at the same time. */
  readonly atOnce: number
  readonly units: readonly Unit[]
}

/** Runs its units again as long as an expression holds after an iteration. */
export interface WhileUnit extends UnitBase {
  readonly type: 'DO_WHILE'
  /** An expression over events and variables; the output of the last iteration is `REF.NAME`. */
  readonly loopCondition: string
  /** One iteration more fails the unit. */
  readonly max: number
  readonly units: readonly Unit[]
}

/** Runs another definition as an execution of its own. Inputs are copied in, its output is copied out. */
export interface ChildUnit extends UnitBase {
  readonly type: 'SUB_WORKFLOW'
  readonly subWorkflowParam: { readonly name: string; readonly version?: number }
}

/** A barrier: does nothing but end. */
export interface JoinUnit extends UnitBase {
  readonly type: 'JOIN'
}

/** Sets variables of the execution: `shared.NAME`. */
export interface SetUnit extends UnitBase {
  readonly type: 'SET_VARIABLE'
  /** What readers see as its type. Units of Conductor that do nothing are written as one without variables. */
  readonly shownAs?: 'FORK' | 'JOIN' | 'NOOP'
}

/** Ends the execution. */
export interface EndUnit extends UnitBase {
  readonly type: 'TERMINATE'
  readonly terminationStatus: 'COMPLETED' | 'FAILED' | 'TERMINATED'
  readonly terminationReason?: string
  readonly workflowOutput?: JsonObject
}

/** Every unit, those inside others included. */
export function walkUnits(units: readonly Unit[]): readonly Unit[] {
  return units.flatMap((unit) =>
    unit.type === 'EACH' || unit.type === 'DO_WHILE' ? [unit, ...walkUnits(unit.units)] : [unit],
  )
}

export function isTask(unit: Unit): unit is TaskUnit {
  return unit.type === 'SIMPLE'
}
