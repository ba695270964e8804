/** The unit of the graph for each kind of unit of a document; its edges are found in `edges.ts`. */

import { defined } from '../../base/defined.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { Planning, TaskUnit, Unit, UnitBase, WaitUnit } from '../graph/graph.ts'
import { bytes, milliseconds, seconds } from './durations.ts'
import type { CommonDocument, PlanningDocument, TaskDocument, WaitDocument } from './document.ts'
import type { PlainUnitDocument } from './expand-templates.ts'

/** What a unit has from its surroundings. */
export interface Placement {
  readonly name: string
  readonly after: readonly string[]
  readonly onlyIn: UnitBase['onlyIn'] | undefined
  /** Of a loop. */
  readonly inside: readonly Unit[]
}

export function buildUnit(unit: PlainUnitDocument, placement: Placement): Unit {
  const base = (inputParameters: JsonObject): UnitBase => buildBase(unit, placement, inputParameters)
  if ('task' in unit) return buildTask(unit, base)
  if ('wait' in unit) return buildWait(unit, base({}))
  if ('human' in unit) {
    const { input, timeout } = unit.human
    return { ...base(input ?? {}), type: 'HUMAN', ...defined({ timeoutSeconds: when(timeout, seconds) }) }
  }
  if ('switch' in unit)
    return { ...base({}), type: 'SWITCH', expression: unit.switch.trim(), cases: Object.keys(unit.cases) }
  if ('if' in unit) return { ...base({}), type: 'SWITCH', expression: unit.if.trim(), cases: ['true'] }
  if ('each' in unit) {
    const { each: items, max, atOnce = 1 } = unit
    return { ...base({}), type: 'EACH', items, max, atOnce, units: placement.inside }
  }
  if ('while' in unit)
    return {
      ...base({}),
      type: 'DO_WHILE',
      loopCondition: unit.while,
      max: unit.max,
      units: placement.inside,
    }
  if ('pipeline' in unit) {
    const { pipeline: name, version } = unit
    return {
      ...base(unit.input ?? {}),
      type: 'SUB_WORKFLOW',
      subWorkflowParam: { name, ...defined({ version }) },
    }
  }
  if ('set' in unit) return { ...base(unit.set), type: 'SET_VARIABLE' }
  if ('end' in unit) {
    const { end: terminationStatus, reason: terminationReason, output: workflowOutput } = unit
    return {
      ...base({}),
      type: 'TERMINATE',
      terminationStatus,
      ...defined({ terminationReason, workflowOutput }),
    }
  }
  return { ...base({}), type: 'JOIN' }
}

/** The values of a unit that may hold `${…}`, with the field each comes from. */
export function valuesOf(unit: PlainUnitDocument): readonly (readonly [field: string, value: Json])[] {
  const of = unit as unknown as JsonObject
  const fields = [
    'workspace',
    'params',
    'input',
    'switch',
    'if',
    'each',
    'set',
    'output',
    'wait',
    'human',
    'undo',
  ]
  return fields.flatMap((field) => {
    const value = of[field]
    return value === undefined ? [] : [[field, value] as const]
  })
}

function buildBase(
  unit: CommonDocument,
  { name, after, onlyIn }: Placement,
  inputParameters: JsonObject,
): UnitBase {
  const { startWhen, onlyIf, startDelay, optional, phase, planning, undo } = unit
  return {
    taskReferenceName: name,
    inputParameters,
    after,
    ...defined({
      onlyIn,
      startWhen,
      onlyIf,
      startDelay: when(startDelay, seconds),
      optional,
      phase,
      planning: when(planning, buildPlanning),
      undo: when(undo, ({ task, input, order }) => ({
        name: task,
        ...defined({ inputParameters: input, order }),
      })),
    }),
  }
}

function buildPlanning({ cpu, memory, gpu, expected, ...rest }: PlanningDocument): Planning {
  const demand = defined({ cpu, memoryBytes: when(memory, bytes), gpu })
  return {
    ...rest,
    ...(Object.keys(demand).length > 0 ? { demand } : {}),
    ...defined({ expectedMs: when(expected, milliseconds) }),
  }
}

const BACKOFF = { fixed: 'FIXED', linear: 'LINEAR_BACKOFF', exponential: 'EXPONENTIAL_BACKOFF' } as const

function buildTask(unit: TaskDocument, base: (input: JsonObject) => UnitBase): TaskUnit {
  const { task: name, workspace, params, input, retry = {}, timeout, lease, target } = unit
  return {
    // Every perago task reads its parameters, also one that has none.
    ...base({
      ...input,
      ...defined({ workspace, params: params ?? (input === undefined ? {} : undefined) }),
    }),
    type: 'SIMPLE',
    name,
    ...defined({
      retryCount: retry.times,
      retryLogic: when(retry.backoff, (backoff) => BACKOFF[backoff]),
      retryDelaySeconds: when(retry.delay, seconds),
      maxRetryDelaySeconds: when(retry.maxDelay, seconds),
      backoffJitterMs: when(retry.jitter, milliseconds),
      timeoutSeconds: when(timeout, seconds),
      responseTimeoutSeconds: when(lease, seconds),
      target,
    }),
  }
}

function buildWait({ wait }: WaitDocument, base: UnitBase): WaitUnit {
  const { for: duration, until, events, which, timeout } = wait
  return {
    ...base,
    type: 'WAIT',
    ...defined({
      seconds: when(duration, seconds),
      until,
      events,
      which,
      timeoutSeconds: when(timeout, seconds),
    }),
  }
}

function when<Value, Result>(value: Value | undefined, then: (value: Value) => Result): Result | undefined {
  return value === undefined ? undefined : then(value)
}
