/** Checks the results when all units have ended, as the policy of the execution says. */

import type { AttemptRow } from './execution.ts'
import { failureText, mayRetry, retry } from './failures.ts'
import { TOP } from './frames.ts'
import { addPolled, VERIFYING_REFERENCE } from './rows.ts'
import { isTaskOpen, isTaskWellEnded } from './state.ts'
import type { Step } from './step.ts'
import { fill, judge } from './values.ts'
import { isPeragoError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

export type Verified =
  { readonly is: 'open' } | { readonly is: 'right' } | { readonly is: 'wrong'; readonly why: string }

/**
 * A task gets `outputs`, by reference name, and `output`, that of the execution. The results are right when it completes,
 * unless its output says `passed: false`.
 */
export function goOnWithVerification(step: Step): Verified {
  const { verify } = step.execution.policy
  if (verify === undefined) return { is: 'right' }
  if ('expression' in verify) return judgeResults(step, verify.expression)
  const row = step.latest(VERIFYING_REFERENCE)
  if (row !== undefined) return readVerdict(step, row)
  const { name, inputParameters = {} } = verify
  addPolled(step, {
    unit: '',
    role: 'verify',
    taskType: name,
    reference: VERIFYING_REFERENCE,
    frame: TOP,
    delaySeconds: 0,
    inputOf: (taskId) => ({
      outputs: outputsOf(step),
      output: step.execution.ending?.output ?? {},
      ...fill(step, inputParameters, { frame: TOP, taskId }),
    }),
  })
  return { is: 'open' }
}

function judgeResults(step: Step, expression: string): Verified {
  try {
    if (judge(step, expression, TOP) === true) return { is: 'right' }
    return { is: 'wrong', why: `"${expression}" does not hold` }
  } catch (error) {
    if (!isPeragoError(error) || error.kind !== 'invalid') throw error
    return { is: 'wrong', why: error.message }
  }
}

function readVerdict(step: Step, row: AttemptRow): Verified {
  const { status, output } = row.record
  if (isTaskOpen(status)) return { is: 'open' }
  if (isTaskWellEnded(status) && output['passed'] !== false) return { is: 'right' }
  if (mayRetry(step, row)) {
    retry(step, row)
    return { is: 'open' }
  }
  const said = isTaskWellEnded(status) ? (output['reason'] ?? 'the results did not pass') : failureText(row)
  return { is: 'wrong', why: typeof said === 'string' ? said : JSON.stringify(said) }
}

/** Of each unit that ran, by its reference name. */
function outputsOf(step: Step): JsonObject {
  return Object.fromEntries(
    step.rows
      .filter(
        ({ role, record }) => role === 'run' && isTaskWellEnded(record.status) && record.status !== 'SKIPPED',
      )
      .map(({ record }) => [record.referenceTaskName, record.output]),
  )
}
