/** Collects the units of a pipeline that is written in TypeScript, as parts of a document. */

import type { z } from 'zod'
import { defined } from '../../base/defined.ts'
import type { JsonObject } from '../../base/json.ts'
import { isTaskDefinition, type TaskDefinition, type TaskWorkspaceSpec } from '../../tasks/task-definition.ts'
import type { CommonDocument, DurationText, UnitDocument, WaitDocument } from './document.ts'
import type {
  TaskHandle,
  TaskOptions,
  TaskSettings,
  UnitHandle,
  UnitOptions,
  UntypedHandle,
  WaitOptions,
  WorkspaceTaskHandle,
  WorkspaceValue,
} from './pipeline-units.ts'
import type { PipelineDefinition } from './pipeline-definition.ts'
import { makeReference, writeAsText, writeReferences, type Given, type Reference } from './typed-reference.ts'
import type { UnitCollection } from './unit-collection.ts'

type Build = () => void

/** What `definePipeline` gives to the function that writes the units. */
export class PipelineBuilder<Input> {
  /** The inputs of the execution. */
  readonly input: Reference<Input> = makeReference(['workflow', 'input'])
  private readonly units: UnitCollection

  constructor(units: UnitCollection) {
    this.units = units
  }

  /** Runs a declared task. */
  task<Params extends z.ZodType, Result extends z.ZodType, Workspace extends TaskWorkspaceSpec | undefined>(
    name: string,
    task: TaskDefinition<Params, Result, Workspace>,
    options: TaskOptions<z.input<Params>, Workspace>,
  ): Workspace extends undefined ? TaskHandle<z.output<Result>> : WorkspaceTaskHandle<z.output<Result>> {
    this.units.noteTask(task)
    const {
      params = {},
      workspace,
      ...settings
    } = options as TaskSettings & {
      readonly params?: unknown
      readonly workspace?: unknown
    }
    this.add(name, {
      task: task.name,
      ...(task.workspace === undefined ? {} : { workspace: writeReferences(workspace) }),
      params: writeReferences(params),
      ...this.common(settings),
    })
    const output = makeReference<{ result: z.output<Result>; workspace: WorkspaceValue }>([name, 'output'])
    // Which of the two it is follows from the task; the compiler cannot narrow the type by its value.
    return { name, output, result: output.result, workspace: output.workspace } as never
  }

  /** Runs a task that another worker declares, such as one in Python. */
  taskNamed(
    name: string,
    taskType: string,
    { input = {}, ...settings }: TaskSettings & { readonly input?: Readonly<Record<string, unknown>> } = {},
  ): UntypedHandle {
    this.add(name, {
      task: taskType,
      input: writeReferences(input) as JsonObject,
      ...this.common(settings),
    })
    return { name, output: makeReference<unknown>([name, 'output']) as UntypedHandle['output'] }
  }

  /** Waits for a time, or for events of this execution. */
  wait(name: string, options: WaitOptions): UnitHandle {
    const { wait, rest } = splitWait(options)
    return this.add(name, { wait, ...this.common(rest) })
  }

  /** Waits until somebody completes it; the output is what that person gives. */
  human<Output = unknown>(
    name: string,
    {
      input,
      timeout,
      ...rest
    }: UnitOptions & {
      readonly input?: Readonly<Record<string, unknown>>
      readonly timeout?: DurationText
    } = {},
  ): UnitHandle<Output> {
    const shown = input === undefined ? undefined : (writeReferences(input) as JsonObject)
    this.add(name, { human: defined({ input: shown, timeout }), ...this.common(rest) })
    return { name, output: makeReference<Output>([name, 'output']) }
  }

  /** Runs the units of one case. What is after it waits for them. */
  switch<Value extends string>(
    name: string,
    value: Reference<Value>,
    {
      cases,
      default: otherwise,
      ...rest
    }: UnitOptions & { readonly cases: Readonly<Partial<Record<Value, Build>>>; readonly default?: Build },
  ): UnitHandle {
    const built = Object.entries<Build | undefined>(cases).map(
      ([key, build]) => [key, build === undefined ? {} : this.units.inside(build)] as const,
    )
    return this.add(name, {
      switch: writeAsText(value),
      cases: Object.fromEntries(built),
      ...(otherwise === undefined ? {} : { default: this.units.inside(otherwise) }),
      ...this.common(rest),
    })
  }

  /** Runs the units of one of two cases. What is after it waits for them. */
  if(
    name: string,
    value: Reference<boolean>,
    { then, else: otherwise, ...rest }: UnitOptions & { readonly then: Build; readonly else?: Build },
  ): UnitHandle {
    return this.add(name, {
      if: writeAsText(value),
      then: this.units.inside(then),
      ...(otherwise === undefined ? {} : { else: this.units.inside(otherwise) }),
      ...this.common(rest),
    })
  }

  /** Runs units once for every item of a list. */
  each<Item>(
    name: string,
    items: Given<readonly Item[]>,
    { max, atOnce, ...rest }: UnitOptions & { readonly max: number; readonly atOnce?: number },
    build: (item: Reference<Item>, index: Reference<number>) => void,
  ): UnitHandle {
    const units = this.units.inside(() => {
      build(makeReference<Item>([name, 'item']), makeReference<number>([name, 'index']))
    })
    return this.add(name, {
      each: writeReferences(items),
      max,
      ...defined({ atOnce }),
      units,
      ...this.common(rest),
    })
  }

  /** Runs units again as long as a condition holds after an iteration; see `condition`. */
  repeat(
    name: string,
    {
      max,
      while: holds,
      ...rest
    }: UnitOptions & { readonly max: number; readonly while: string | (() => string) },
    build: Build,
  ): UnitHandle {
    const units = this.units.inside(build)
    const text = typeof holds === 'string' ? holds : holds()
    return this.add(name, { while: text, max, units, ...this.common(rest) })
  }

  /** Runs another pipeline as an execution of its own. */
  pipeline<ChildInput, ChildOutput>(
    name: string,
    child: PipelineDefinition<ChildInput, ChildOutput>,
    { input, ...rest }: UnitOptions & { readonly input: Given<ChildInput> },
  ): UnitHandle<ChildOutput> {
    this.units.noteChild(child)
    this.add(name, {
      pipeline: child.name,
      version: child.version,
      input: writeReferences(input) as JsonObject,
      ...this.common(rest),
    })
    return { name, output: makeReference<ChildOutput>([name, 'output']) }
  }

  /** Does nothing but end; others can be after it. */
  barrier(name: string, options: UnitOptions = {}): UnitHandle {
    return this.add(name, { barrier: true, ...this.common(options) })
  }

  /** Sets variables of the execution; see `variable`. */
  set(name: string, values: Readonly<Record<string, unknown>>, options: UnitOptions = {}): UnitHandle {
    return this.add(name, { set: writeReferences(values) as JsonObject, ...this.common(options) })
  }

  /** A variable that some unit sets. */
  variable<Value>(name: string): Reference<Value> {
    return makeReference<Value>(['workflow', 'variables', name])
  }

  /** Ends the execution. */
  end(
    name: string,
    {
      status,
      reason,
      output,
      ...rest
    }: UnitOptions & {
      readonly status: 'COMPLETED' | 'FAILED' | 'TERMINATED'
      readonly reason?: string
      readonly output?: Readonly<Record<string, unknown>>
    },
  ): UnitHandle {
    const result = output === undefined ? undefined : (writeReferences(output) as JsonObject)
    return this.add(name, { end: status, ...defined({ reason, output: result }), ...this.common(rest) })
  }

  private add(name: string, unit: UnitDocument): UnitHandle {
    this.units.add(name, unit)
    return { name, output: makeReference<unknown>([name, 'output']) }
  }

  private common<Settings extends UnitOptions>({ after, undo, ...rest }: Settings) {
    return {
      ...(defined(rest) as Omit<Settings, 'after' | 'undo'>),
      ...(after === undefined ? {} : { after: after.map(({ name }) => name) }),
      ...(undo === undefined ? {} : { undo: this.writeUndo(undo) }),
    }
  }

  private writeUndo({
    task,
    input,
    order,
  }: NonNullable<UnitOptions['undo']>): CommonDocument['undo'] & object {
    if (isTaskDefinition(task)) this.units.noteTask(task)
    return {
      task: isTaskDefinition(task) ? task.name : task,
      ...(input === undefined ? {} : { input: writeReferences(input) as JsonObject }),
      ...defined({ order }),
    }
  }
}

function splitWait(options: WaitOptions): {
  readonly wait: WaitDocument['wait']
  readonly rest: UnitOptions
} {
  if ('for' in options) {
    const { for: duration, ...rest } = options
    return { wait: { for: duration }, rest }
  }
  if ('until' in options) {
    const { until, ...rest } = options
    return { wait: { until: writeAsText(until) }, rest }
  }
  const { events, which, timeout, ...rest } = options
  return { wait: { events, ...defined({ which, timeout }) }, rest }
}
