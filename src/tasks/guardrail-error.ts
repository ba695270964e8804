/** The error of failed guardrails. */

import { InvalidError } from '../base/errors.ts'
import { GUARDRAIL_FAILURES_SHOWN } from './limits.ts'

/** `pre`: the input is wrong. `post`: the result of the body is wrong. */
export type GuardrailPhase = 'pre' | 'post'

export interface GuardrailFailure {
  readonly rule: string
  /** Relative to the workspace; `.` for all of it. */
  readonly path: string
  readonly found: string
  readonly wanted: string
}

/** Lists every failed guardrail. Its code is `workspace/pre-guardrail` or `workspace/post-guardrail`. */
export class GuardrailError extends InvalidError {
  readonly phase: GuardrailPhase
  readonly failures: readonly GuardrailFailure[]

  constructor(phase: GuardrailPhase, failures: readonly GuardrailFailure[], cause?: unknown) {
    const details = { phase, failures }
    super(`workspace/${phase}-guardrail`, describe(phase, failures), { details, next: NEXT[phase], cause })
    this.phase = phase
    this.failures = failures
  }
}

const NEXT: Readonly<Record<GuardrailPhase, string>> = {
  pre: 'Mend the input of the task: a retry would read the same commit.',
  post: 'Mend the body, or the guardrail; nothing was published.',
}

function describe(phase: GuardrailPhase, failures: readonly GuardrailFailure[]): string {
  const shown = failures
    .slice(0, GUARDRAIL_FAILURES_SHOWN)
    .map(
      ({ rule, path, found, wanted }) => `${rule} ${JSON.stringify(path)}: found ${found}, wanted ${wanted}`,
    )
  if (failures.length > shown.length) shown.push(`and ${failures.length - shown.length} more`)
  return `check the workspace ${phase === 'pre' ? 'before' : 'after'} the body: ${shown.join('; ')}`
}
