/** Evaluating an expression over an execution, whose events and variables are read asynchronously. */

import { evaluateExpression, type Verdict } from './evaluate-expression.ts'
import { referencesOf } from './references.ts'
import type { Expression } from './syntax.ts'

/** What is read of one execution; an `Execution` and a `NodeScope` have it. */
export interface ExecutionReads {
  readonly events: { has(type: string): Promise<boolean> }
  /** `undefined` while there is none. */
  readonly variables: { get(name: string): Promise<unknown> }
}

/**
 * Reads each event and each variable once, then evaluates.
 *
 * ```ts
 * const isReady = (await evaluateInExecution(expression, execution)) === true
 * ```
 *
 * Events first: outputs are stored before the event that tells of them, so what an event promises is found by the reads
 * that follow. In the other order an event could be seen beside variables from before it.
 */
export async function evaluateInExecution(expression: Expression, reads: ExecutionReads): Promise<Verdict> {
  const names = referencesOf(expression)
  const happened = new Map(await askEach(names.events, (type) => reads.events.has(type)))
  const values = new Map(await askEach(names.variables, (name) => reads.variables.get(name)))
  return evaluateExpression(expression, {
    has: (type) => happened.get(type) === true,
    read: (name) => values.get(name),
  })
}

/** All at once: the length of an expression bounds the number of names. */
function askEach<T>(names: readonly string[], ask: (name: string) => Promise<T>): Promise<[string, T][]> {
  return Promise.all(names.map(async (name): Promise<[string, T]> => [name, await ask(name)]))
}
