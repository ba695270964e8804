/** Prints an expression in a canonical form; parsing the result gives an equal expression. */

import type { Condition, Expression, Value } from './syntax.ts'

export function printExpression({ condition }: Pick<Expression, 'condition'>): string {
  return printCondition(condition)
}

function printCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'event':
      return `event:${condition.type}`
    case 'exists':
      return `exists(${printValue(condition.variable)})`
    case 'flag':
      return printValue(condition.value)
    case 'compare':
      return `${printValue(condition.left)} ${condition.operator} ${printValue(condition.right)}`
    case 'not':
      return `!${isJoined(condition.of) || condition.of.kind === 'compare' ? inParentheses(condition.of) : printCondition(condition.of)}`
    case 'all':
      return condition.of
        .map((part) => (isJoined(part) ? inParentheses(part) : printCondition(part)))
        .join(' && ')
    case 'any':
      return condition.of
        .map((part) => (part.kind === 'any' ? inParentheses(part) : printCondition(part)))
        .join(' || ')
  }
}

function isJoined({ kind }: Condition): boolean {
  return kind === 'all' || kind === 'any'
}

function inParentheses(condition: Condition): string {
  return `(${printCondition(condition)})`
}

function printValue(value: Value): string {
  if (value.kind === 'literal') return JSON.stringify(value.value)
  return value.name + value.path.map((step) => `[${JSON.stringify(step)}]`).join('')
}
