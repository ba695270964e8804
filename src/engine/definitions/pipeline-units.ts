/** What the methods of `PipelineBuilder` take and give. */

import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { CommonDocument, DurationText, RetryDocument } from './document.ts'
import type { Given, Reference, UntypedReference } from './typed-reference.ts'

/** A unit of the pipeline, for `after` and for what refers to it. */
export interface UnitHandle<Output = unknown> {
  readonly name: string
  readonly output: Reference<Output>
}

/** Where a task with a workspace works: a branch, and the commit to begin with. */
export interface WorkspaceValue {
  readonly repository: string
  readonly branch: string
  readonly refType: 'commit'
  readonly ref: string
}

export interface TaskHandle<Result> extends UnitHandle<{ readonly result: Result }> {
  readonly result: Reference<Result>
}

export interface WorkspaceTaskHandle<Result> extends UnitHandle<{
  readonly result: Result
  readonly workspace: WorkspaceValue
}> {
  readonly result: Reference<Result>
  /** The branch at the commit that the task published. */
  readonly workspace: Reference<WorkspaceValue>
}

/** A task of another worker: what it gives out is not known. */
export interface UntypedHandle extends UnitHandle {
  readonly output: Reference<unknown> & UntypedReference
}

export interface UnitOptions extends Omit<CommonDocument, 'after' | 'undo'> {
  /** Units that end before it starts, besides those whose outputs it uses. */
  readonly after?: readonly UnitHandle[]
  /** The task that undoes it in a rollback, given the output of the unit and `input`. Lower `order` first; 0 unless given. */
  readonly undo?: {
    readonly task: TaskDefinition | string
    readonly input?: unknown
    readonly order?: number
  }
}

export interface TaskSettings extends UnitOptions {
  readonly retry?: RetryDocument
  readonly timeout?: DurationText
  readonly lease?: DurationText
  readonly target?: string
}

type ParamsOption<Params> =
  // The empty object is meant: it fits where every parameter is optional.
  // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- the rule sees `{}` where none is written
  Pick<Params, never> extends Params
    ? { readonly params?: Given<Params> }
    : { readonly params: Given<Params> }

type WorkspaceOption<Workspace> = Workspace extends undefined
  ? { readonly workspace?: never }
  : { readonly workspace: Given<WorkspaceValue> }

export type TaskOptions<Params, Workspace> = TaskSettings & ParamsOption<Params> & WorkspaceOption<Workspace>

export type WaitOptions = UnitOptions &
  (
    | {
        /** How long it waits: a whole number and `s`, `min`, `h` or `d`, such as `30s`. */
        readonly for: DurationText
      }
    | {
        /** A time in ISO 8601, or a reference to one. */
        readonly until: Given<string>
      }
    | {
        /** Types of events of this execution, such as `external.approved`. */
        readonly events: readonly [string, ...string[]]
        /** Whether it waits for all of several events or for the first one; `all` unless given. */
        readonly which?: 'all' | 'any'
        /** The unit fails if the events have not come within this time, such as `2h`; no limit unless given. */
        readonly timeout?: DurationText
      }
  )
