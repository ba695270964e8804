/** The names an expression depends on: nothing else changes its result. */

import type { Condition, Expression, Value } from './syntax.ts'

export interface ExpressionReferences {
  /** Event types, each once, in order of first use. */
  readonly events: readonly string[]
  /** Variables, each once, in order of first use. */
  readonly variables: readonly string[]
}

/**
 * ```ts
 * referencesOf(parseExpression('event:a.completed && a.rows > b.rows'))
 * // { events: ['a.completed'], variables: ['a.rows', 'b.rows'] }
 * ```
 */
export function referencesOf({ condition }: Pick<Expression, 'condition'>): ExpressionReferences {
  const events = new Set<string>()
  const variables = new Set<string>()
  collect(condition, { events, variables })
  return { events: [...events], variables: [...variables] }
}

interface Found {
  readonly events: Set<string>
  readonly variables: Set<string>
}

function collect(condition: Condition, found: Found): void {
  switch (condition.kind) {
    case 'event':
      found.events.add(condition.type)
      return
    case 'exists':
      collectValue(condition.variable, found)
      return
    case 'flag':
      collectValue(condition.value, found)
      return
    case 'compare':
      collectValue(condition.left, found)
      collectValue(condition.right, found)
      return
    case 'not':
      collect(condition.of, found)
      return
    default:
      for (const part of condition.of) collect(part, found)
  }
}

function collectValue(value: Value, { variables }: Found): void {
  if (value.kind === 'variable') variables.add(value.name)
}
