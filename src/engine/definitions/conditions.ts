/** The conditions of a pipeline (`startWhen`, `onlyIf`, `while`): expressions of the core over events and variables. */

import { parseExpression } from '../../core/expressions/parse-expression.ts'
import { printExpression } from '../../core/expressions/print-expression.ts'
import { referencesOf } from '../../core/expressions/references.ts'
import type { Condition, Value } from '../../core/expressions/syntax.ts'
import { isPeragoError } from '../../base/errors.ts'

export type ReadCondition =
  | {
      readonly isRead: true
      /** The first words of its event types and variables. */
      readonly events: readonly string[]
      readonly variables: readonly string[]
    }
  | { readonly isRead: false; readonly message: string }

export function readCondition(text: string): ReadCondition {
  try {
    const { events, variables } = referencesOf(parseExpression(text))
    return { isRead: true, events, variables }
  } catch (error) {
    if (!isPeragoError(error)) throw error
    return { isRead: false, message: error.message }
  }
}

/** The same condition about units of other names. Text that is no condition is left alone. */
export function renameInCondition(text: string, rename: (unit: string) => string): string {
  let condition: Condition
  try {
    ;({ condition } = parseExpression(text))
  } catch (error) {
    if (!isPeragoError(error)) throw error
    // Whoever reads it next reports it.
    return text
  }
  return printExpression({ condition: renameAll(condition, rename) })
}

function renameAll(condition: Condition, rename: (unit: string) => string): Condition {
  const inValue = <V extends Value>(value: V): V =>
    value.kind === 'variable' ? { ...value, name: renameFirst(value.name, rename) } : value
  switch (condition.kind) {
    case 'event':
      return { ...condition, type: renameFirst(condition.type, rename) }
    case 'exists':
      return { ...condition, variable: inValue(condition.variable) }
    case 'flag':
      return { ...condition, value: inValue(condition.value) }
    case 'compare':
      return { ...condition, left: inValue(condition.left), right: inValue(condition.right) }
    case 'not':
      return { ...condition, of: renameAll(condition.of, rename) }
    case 'all':
    case 'any':
      return { ...condition, of: condition.of.map((part) => renameAll(part, rename)) }
  }
}

function renameFirst(dotted: string, rename: (unit: string) => string): string {
  const [first = '', ...rest] = dotted.split('.')
  return [rename(first), ...rest].join('.')
}
