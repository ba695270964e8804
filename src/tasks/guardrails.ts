/** Types of guardrails: rules for a workspace, checked before or after the body. The `workspace` room has the built-in ones. */

import type { GuardrailFailure, GuardrailPhase } from './guardrail-error.ts'
import type { TreeEntry } from './tree-entry.ts'

export interface GuardrailContext {
  /** Absolute path of the workspace. */
  readonly dir: string
  readonly phase: GuardrailPhase
  readonly signal: AbortSignal
  /** All files and other entries below the directory, without directories. Read once for all rules. */
  readonly entries: () => Promise<readonly TreeEntry[]>
}

/** A failure without the name of the rule. */
export type Finding = Omit<GuardrailFailure, 'rule'>

export interface GuardrailRule {
  readonly rule: string
  check(context: GuardrailContext): Promise<readonly Finding[]>
}

/**
 * A custom rule, named after the function. It holds if the function returns nothing; a string, findings or an error say what
 * is wrong.
 */
export type GuardrailFunction = (
  context: GuardrailContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- an async function without `return` gives this
) => Promise<string | readonly Finding[] | undefined | void>

export type Guardrail = GuardrailRule | GuardrailFunction
