/**
 * A pipeline as plain data: what a YAML or JSON file holds, and what `definePipeline` writes. `document-shape.ts` checks its
 * form, `compile-document.ts` makes a graph of it.
 */

import type { Json, JsonObject } from '../../base/json.ts'

export interface PipelineDocument {
  readonly name: string
  readonly version?: number
  readonly description?: string
  readonly owner?: string
  readonly input?: Readonly<Record<string, InputDocument>>
  readonly timeout?: DurationText
  readonly onTimeout?: 'end' | 'alert'
  readonly restartable?: boolean
  readonly policy?: PolicyDocument
  readonly units: UnitDocuments
  readonly output?: JsonObject
  readonly templates?: Readonly<Record<string, TemplateDocument>>
  readonly schedules?: Readonly<Record<string, ScheduleDocument>>
}

export interface PolicyDocument {
  readonly onFailure?: 'fail' | 'rollback'
  readonly attempts?: number
  readonly recover?: { readonly back: 'unit' | 'phase' | 'checkpoint'; readonly times?: number }
  readonly verify?: { readonly task: string; readonly input?: JsonObject } | { readonly condition: string }
}

/** A number and a unit: `30s`, `5min`, `2h`. */
export type DurationText = string

export interface InputDocument {
  readonly description?: string
  readonly default?: Json
}

/** In the order in which they were written. */
export type UnitDocuments = Readonly<Record<string, UnitDocument>>

export type UnitDocument =
  | TaskDocument
  | WaitDocument
  | HumanDocument
  | SwitchDocument
  | IfDocument
  | EachDocument
  | WhileDocument
  | ChildDocument
  | BarrierDocument
  | SetDocument
  | EndDocument
  | InstanceDocument

export interface CommonDocument {
  /** What it is for, for readers; changes nothing. */
  readonly description?: string
  readonly after?: readonly string[]
  /** A condition, evaluated once when the unit could start: if it does not hold, the unit is skipped. */
  readonly onlyIf?: string
  /** A condition over events and variables: the unit does not start before it holds. */
  readonly startWhen?: string
  /** How long the unit waits when it could start, such as `30s`; not at all unless given. */
  readonly startDelay?: DurationText
  /** Whether the execution goes on after the unit has failed for good; false unless given. */
  readonly optional?: boolean
  /** One word; checkpoints and limits are per phase. Unless given: the layer of the unit, such as `layer-1`. */
  readonly phase?: string
  /** What scheduling knows of the unit, such as its priority; affects only the order of units. */
  readonly planning?: PlanningDocument
  readonly undo?: { readonly task: string; readonly input?: JsonObject; readonly order?: number }
}

export interface PlanningDocument {
  readonly priority?: number
  readonly complexity?: number
  readonly impact?: number
  readonly cpu?: number
  readonly memory?: string
  readonly gpu?: number
  readonly expected?: DurationText
  readonly affinity?: string
}

export interface RetryDocument {
  readonly times?: number
  readonly delay?: DurationText
  readonly backoff?: 'fixed' | 'linear' | 'exponential'
  readonly maxDelay?: DurationText
  readonly jitter?: DurationText
}

export interface TaskDocument extends CommonDocument {
  readonly task: string
  readonly workspace?: Json
  readonly params?: Json
  /** Of a task of another worker, which reads other names. */
  readonly input?: JsonObject
  readonly retry?: RetryDocument
  readonly timeout?: DurationText
  readonly lease?: DurationText
  readonly target?: string
}

export interface WaitDocument extends CommonDocument {
  readonly wait: {
    readonly for?: DurationText
    readonly until?: string
    readonly events?: readonly string[]
    readonly which?: 'all' | 'any'
    readonly timeout?: DurationText
  }
}

export interface HumanDocument extends CommonDocument {
  readonly human: { readonly input?: JsonObject; readonly timeout?: DurationText }
}

export interface SwitchDocument extends CommonDocument {
  readonly switch: string
  readonly cases: Readonly<Record<string, UnitDocuments>>
  readonly default?: UnitDocuments
}

export interface IfDocument extends CommonDocument {
  readonly if: string
  readonly then: UnitDocuments
  readonly else?: UnitDocuments
}

export interface EachDocument extends CommonDocument {
  readonly each: Json
  readonly max: number
  readonly atOnce?: number
  readonly units: UnitDocuments
}

export interface WhileDocument extends CommonDocument {
  readonly while: string
  readonly max: number
  readonly units: UnitDocuments
}

export interface ChildDocument extends CommonDocument {
  readonly pipeline: string
  readonly version?: number
  readonly input?: JsonObject
}

export interface BarrierDocument extends CommonDocument {
  readonly barrier: true
}

export interface SetDocument extends CommonDocument {
  readonly set: JsonObject
}

export interface EndDocument extends CommonDocument {
  readonly end: 'COMPLETED' | 'FAILED' | 'TERMINATED'
  readonly reason?: string
  readonly output?: JsonObject
}

/** The units of a template, with values for its parameters. */
export interface InstanceDocument {
  readonly description?: string
  readonly template: string
  readonly with?: JsonObject
  readonly after?: readonly string[]
}

export interface TemplateDocument {
  readonly description?: string
  readonly parameters?: Readonly<Record<string, InputDocument>>
  readonly units: UnitDocuments
  /** What `${INSTANCE.output.NAME}` means. */
  readonly output?: JsonObject
}

export interface ScheduleDocument {
  readonly cron: string
  readonly timeZone?: string
  readonly catchUp?: 'none' | 'last' | 'all'
  readonly input?: JsonObject
}
