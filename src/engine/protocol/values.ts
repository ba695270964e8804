/** What templates and conditions see of an execution. */

import type { Json, JsonObject } from '../../base/json.ts'
import { evaluateExpression, type Verdict } from '../../core/expressions/evaluate-expression.ts'
import { parseExpression } from '../../core/expressions/parse-expression.ts'
import type { Expression } from '../../core/expressions/syntax.ts'
import type { SwitchUnit } from '../graph/graph.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { AttemptRow } from './execution.ts'
import { evaluateTemplate, type Roots } from './expressions.ts'
import { outerFrame, referenceFrom, iterationOf, type Frame } from './frames.ts'
import type { Step } from './step.ts'

export function fill(
  step: Step,
  template: JsonObject,
  at: { readonly frame: Frame; readonly taskId?: string },
): JsonObject {
  return evaluateTemplate(template, rootsIn(step, at))
}

/** A value that may be an expression as a whole. */
export function fillValue(
  step: Step,
  value: Json,
  at: { readonly frame: Frame; readonly taskId?: string },
): Json {
  return fill(step, { value }, at)['value'] ?? null
}

/** The case of a SWITCH that has ended: `default` where no case has the name. */
export function chosenCase({ cases }: SwitchUnit, { record }: AttemptRow): string {
  const { selectedCase } = record.output
  return typeof selectedCase === 'string' && cases.includes(selectedCase) ? selectedCase : 'default'
}

/** Throws what `core/expressions` throws for an expression that cannot be parsed or evaluated. */
export function judge(step: Step, text: string, frame: Frame): Verdict {
  const { scope } = step.moment
  return evaluateExpression(parsed(text), {
    has: (type) => scope.has(type) || hasCompleted(step, type),
    read: (name) => readVariable(step, name, frame),
  })
}

/** The attempt that `name` means in this frame; outside of the loop that it is in, the one scheduled last. */
export function rowNamed(step: Step, name: string, frame: Frame): AttemptRow | undefined {
  if (!step.index.units.has(name)) return undefined
  const reference = referenceFrom(frame, name, step.index)
  if (reference !== undefined) return step.latest(reference)
  return step.rows.findLast((row) => row.unit === name && row.role === 'run')
}

function rootsIn(step: Step, at: { readonly frame: Frame; readonly taskId?: string }): Roots {
  return (name) => {
    if (name === 'workflow') return workflowRoot(step)
    if (name === 'CPEWF_TASK_ID') return at.taskId
    const row = rowNamed(step, name, at.frame)
    return row === undefined ? undefined : { ...rootOf(row.record), ...itemOf(step, row, at.frame) }
  }
}

function workflowRoot({ execution }: Step): JsonObject {
  return {
    input: execution.input,
    output: execution.output,
    variables: execution.variables,
    status: execution.status,
    workflowId: execution.workflowId,
    workflowType: execution.graph.name,
    version: execution.graph.version,
    correlationId: execution.correlationId ?? null,
  }
}

function rootOf(record: TaskRecord): JsonObject {
  return {
    input: record.input,
    output: record.output,
    status: record.status,
    taskId: record.taskId,
    retryCount: record.retryCount,
    pollCount: record.pollCount,
    startTime: record.startTimeMs,
    workerId: record.workerId,
    reasonForIncompletion: record.reasonForIncompletion ?? null,
    iteration: record.iteration,
  }
}

/** `${REF.item}` and `${REF.index}`, inside the EACH `REF`. */
function itemOf(step: Step, row: AttemptRow, frame: Frame): JsonObject {
  if (step.index.units.get(row.unit)?.type !== 'EACH') return {}
  let at: Frame | undefined = frame
  while (at !== undefined && at.container !== row.unit) at = outerFrame(at, step.index)
  if (at === undefined) return {}
  const index = iterationOf(at) - 1
  return { index, item: itemsOf(row)[index] ?? null }
}

/** The list of an EACH, as it was when it began. */
function itemsOf({ record }: AttemptRow): readonly Json[] {
  const { items } = record.input
  return Array.isArray(items) ? (items as readonly Json[]) : []
}

/** An event that the host publishes together with this step. */
function hasCompleted(step: Step, type: string): boolean {
  const [, unit] = /^(.+)\.completed$/.exec(type) ?? []
  if (unit === undefined || !step.index.units.has(unit)) return false
  return step.latest(unit)?.record.status === 'COMPLETED'
}

/** Outputs and variables of this step first: they are stored together with it. */
function readVariable(step: Step, name: string, frame: Frame): unknown {
  const dot = name.indexOf('.')
  const [first, rest] = [name.slice(0, dot), name.slice(dot + 1)]
  if (first === 'shared' && step.setNow.has(rest)) return step.setNow.get(rest)
  const row = rowNamed(step, first, frame)
  const output = row?.record.output
  if (output !== undefined && Object.hasOwn(output, rest)) return output[rest]
  // The condition of a loop compares with what the loop was given, such as a number of iterations.
  const isLoop = row !== undefined && step.index.units.get(row.unit)?.type === 'DO_WHILE'
  if (isLoop && Object.hasOwn(row.record.input, rest)) return row.record.input[rest]
  return step.moment.scope.read(name)
}

/** Parsing again would give the same; the bound keeps the memory of a long life small. */
const EXPRESSIONS_KEPT = 1000
const expressions = new Map<string, Expression>()

function parsed(text: string): Expression {
  const known = expressions.get(text)
  if (known !== undefined) return known
  const expression = parseExpression(text)
  if (expressions.size >= EXPRESSIONS_KEPT) expressions.clear()
  expressions.set(text, expression)
  return expression
}
