/** What a guardrail is: a rule that a workspace keeps, before the body or after it. The rules that come with perago, and what checks them, are in the workspace room. */

import type { GuardrailFailure, GuardrailPhase } from './guardrail-error.ts'
import type { TreeEntry } from './tree-entry.ts'

export interface GuardrailContext {
  /** Absolute; what the task sees. */
  readonly dir: string
  readonly phase: GuardrailPhase
  readonly signal: AbortSignal
  /** Everything below the directory that is no directory. Walked through once, however many rules ask. */
  readonly entries: () => Promise<readonly TreeEntry[]>
}

/** What a rule found wrong, without the rule's name. */
export type Finding = Omit<GuardrailFailure, 'rule'>

export interface GuardrailRule {
  readonly rule: string
  check(context: GuardrailContext): Promise<readonly Finding[]>
}

/**
 * A rule of one's own, named by the function's name. It holds when the function returns nothing; a text, findings or
 * an error say what is wrong.
 */
export type GuardrailFunction = (
  context: GuardrailContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- an async function without `return` gives this
) => Promise<string | readonly Finding[] | undefined | void>

export type Guardrail = GuardrailRule | GuardrailFunction
