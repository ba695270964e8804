/** An expression over an execution whose events and variables have to be asked for. */

import { evaluateExpression, type Verdict } from './evaluate-expression.ts'
import { referencesOf } from './references.ts'
import type { Expression } from './syntax.ts'

/** What is asked of an execution; its id is bound already. */
export interface ExecutionReads {
  hasEvent(eventType: string): Promise<boolean>
  /** `undefined` while there is none. */
  readVariable(name: string): Promise<unknown>
}

/**
 * Asks for each event and each variable once, then evaluates.
 *
 * Events first: outputs are stored before the event that tells of them, so what an event promises is found by the reads
 * that follow. In the other order an event could be seen beside variables from before it.
 */
export async function evaluateInExecution(expression: Expression, reads: ExecutionReads): Promise<Verdict> {
  const { events, variables } = referencesOf(expression)
  const happened = new Map(await askEach(events, (type) => reads.hasEvent(type)))
  const values = new Map(await askEach(variables, (name) => reads.readVariable(name)))
  return evaluateExpression(expression, {
    has: (type) => happened.get(type) === true,
    read: (name) => values.get(name),
  })
}

/** All at once: an expression is short, and so is the list of its names. */
function askEach<T>(names: readonly string[], ask: (name: string) => Promise<T>): Promise<[string, T][]> {
  return Promise.all(names.map(async (name): Promise<[string, T]> => [name, await ask(name)]))
}
