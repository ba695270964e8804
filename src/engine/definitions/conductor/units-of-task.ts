/** The unit of one task of Conductor's, apart from the tasks inside it. */

import { defined } from '../../../base/defined.ts'
import type { Json, JsonObject } from '../../../base/json.ts'
import type { EndUnit, SwitchUnit, TaskUnit, UnitBase, WaitUnit } from '../../graph/graph.ts'
import { isTimeWithZone, readWaitSeconds } from './wait-duration.ts'
import type { TaskOf } from './workflow-document.ts'

export function taskUnit({ name, retryCount, startDelay }: TaskOf<'SIMPLE'>, base: UnitBase): TaskUnit {
  return { ...base, type: 'SIMPLE', name, ...defined({ retryCount, startDelay }) }
}

/** The texts that are returned instead of a unit say why there is none. */
export function switchUnit(task: TaskOf<'SWITCH'>, base: UnitBase): SwitchUnit | string {
  const { inputParameters, decisionCases } = task
  const parameter = chosenBy(task)
  if (parameter === undefined)
    return `its ${task.evaluatorType} script ${JSON.stringify(task.expression)} is not supported: only "$.NAME" is, for a name of its inputParameters`
  // With such a name nobody could tell this case from the one that is taken where no other fits.
  if (Object.hasOwn(decisionCases, 'default')) return 'none of its decisionCases may be named "default"'
  const value = inputParameters[parameter] ?? null
  if (typeof value === 'object' && value !== null)
    return `its parameter "${parameter}" must be text, a number, true, false or an expression`
  const cases = Object.keys(decisionCases)
  return { ...base, type: 'SWITCH', expression: typeof value === 'string' ? value : String(value), cases }
}

/** The name of the parameter whose value chooses the case. */
function chosenBy({ evaluatorType, expression }: TaskOf<'SWITCH'>): string | undefined {
  if (evaluatorType === 'value-param') return expression
  if (evaluatorType !== 'javascript' && evaluatorType !== 'graaljs') return undefined
  const [, name] = /^\s*\$\.([A-Za-z_]\w*)\s*;?\s*$/.exec(expression) ?? []
  return name
}

export function waitUnit({ inputParameters }: TaskOf<'WAIT'>, base: UnitBase): WaitUnit | string {
  const { duration, until } = inputParameters
  if (duration !== undefined && until !== undefined) return 'it has a duration and a time; one is possible'
  if (until !== undefined) {
    const isKnown = typeof until === 'string' && (isExpression(until) || isTimeWithZone(until))
    if (!isKnown)
      return `${JSON.stringify(until)} is not a time with its zone, such as 2026-01-01T00:00:00Z, nor an expression`
    return { ...base, type: 'WAIT', until }
  }
  if (duration === undefined) return { ...base, type: 'WAIT' }
  const seconds = typeof duration === 'string' ? readWaitSeconds(duration) : undefined
  if (seconds === undefined)
    return `${JSON.stringify(duration)} is not a duration that is known in advance, such as "5 seconds"`
  return { ...base, type: 'WAIT', seconds }
}

const END_STATUSES = ['COMPLETED', 'FAILED', 'TERMINATED'] as const

export function endUnit({ inputParameters }: TaskOf<'TERMINATE'>, base: UnitBase): EndUnit | string {
  const { terminationStatus, terminationReason, workflowOutput } = inputParameters
  const status = END_STATUSES.find((each) => each === terminationStatus)
  if (status === undefined) return `its terminationStatus must be one of ${END_STATUSES.join(', ')}`
  if (terminationReason !== undefined && terminationReason !== null && typeof terminationReason !== 'string')
    return 'its terminationReason must be text'
  const output = outputOf(workflowOutput)
  if (output === undefined) return 'its workflowOutput must be an object; give each part a name'
  return {
    ...base,
    type: 'TERMINATE',
    terminationStatus: status,
    workflowOutput: output,
    ...(typeof terminationReason === 'string' ? { terminationReason } : {}),
  }
}

/** As Conductor has it: what is no object is the output named `output`. What an expression gives is not known here. */
function outputOf(written: Json | undefined): JsonObject | undefined {
  if (written === undefined || written === null) return {}
  if (typeof written === 'object' && !Array.isArray(written)) return written as JsonObject
  return isExpression(written) ? undefined : { output: written }
}

function isExpression(value: Json): boolean {
  return typeof value === 'string' && value.includes('${')
}
