/**
 * Evaluates an expression over one execution.
 *
 * - EV-1 An expression reads its scope and nothing else: names are looked up in the scope, and paths into values see own data
 *   properties only. Nothing is called, computed or loaded.
 * - EV-2 The result is **open**, neither true nor false, while it depends on a variable that is not set; so is its negation.
 *   `||` is true if one side is, `&&` is false if one side is, even if the other side is open.
 * - EV-3 Each name is read at most once, so that one evaluation sees one value.
 */

import { badComparison } from './expression-errors.ts'
import { areEqual, readPath } from './json-values.ts'
import type { Condition, Expression, Value, VariableReference } from './syntax.ts'

/** The events and variables of one execution. */
export interface ExpressionScope {
  /** Has an event of exactly this type happened? */
  has(eventType: string): boolean
  /** The variable's value as JSON, or `undefined` if it is not set. */
  read(variable: string): unknown
}

/** `undefined`: open, because a variable is not set. */
export type Verdict = boolean | undefined

/**
 * Throws `core/bad-comparison` where a value cannot be evaluated: the order of a number and a string, or a condition that is
 * neither true nor false.
 *
 * ```ts
 * const isReady = evaluateExpression(expression, scope) === true
 * ```
 */
export function evaluateExpression({ text, condition }: Expression, scope: ExpressionScope): Verdict {
  return new Evaluation(text, scope).judge(condition)
}

class Evaluation {
  private readonly text: string
  private readonly scope: ExpressionScope
  private readonly events = new Map<string, boolean>()
  private readonly variables = new Map<string, unknown>()

  constructor(text: string, scope: ExpressionScope) {
    this.text = text
    this.scope = scope
  }

  judge(condition: Condition): Verdict {
    switch (condition.kind) {
      case 'event':
        return once(this.events, condition.type, () => this.scope.has(condition.type))
      case 'exists':
        return this.valueOf(condition.variable) !== undefined
      case 'flag':
        return this.judgeFlag(condition.value)
      case 'compare':
        return this.compare(condition)
      case 'not': {
        const denied = this.judge(condition.of)
        return denied === undefined ? undefined : !denied
      }
      case 'all':
        return this.judgeRow(condition.of, false)
      case 'any':
        return this.judgeRow(condition.of, true)
    }
  }

  /** `deciding` is the value that decides the result alone. */
  private judgeRow(row: readonly Condition[], deciding: boolean): Verdict {
    let isOpen = false
    for (const part of row) {
      const verdict = this.judge(part)
      if (verdict === deciding) return deciding
      if (verdict === undefined) isOpen = true
    }
    return isOpen ? undefined : !deciding
  }

  private judgeFlag(value: Value): Verdict {
    const found = this.valueOf(value)
    if (found === undefined || typeof found === 'boolean') return found
    const problem = `the value is ${kindOf(found)}, neither true nor false`
    throw badComparison({ text: this.text, at: value.at, problem, next: 'Compare it with something.' })
  }

  private compare(condition: Condition & { readonly kind: 'compare' }): Verdict {
    const left = this.valueOf(condition.left)
    const right = this.valueOf(condition.right)
    if (left === undefined || right === undefined) return undefined
    const { operator, at } = condition
    if (operator === '==') return areEqual(left, right)
    if (operator === '!=') return !areEqual(left, right)
    if (typeof left === 'number' && typeof right === 'number') return ORDER[operator](left, right)
    if (typeof left === 'string' && typeof right === 'string') return ORDER[operator](left, right)
    const problem = `${kindOf(left)} and ${kindOf(right)} cannot be ordered`
    throw badComparison({ text: this.text, at, problem, next: 'Compare two numbers or two strings.' })
  }

  private valueOf(value: Value): unknown {
    return value.kind === 'literal' ? value.value : this.read(value)
  }

  private read({ name, path }: VariableReference): unknown {
    return readPath(
      once(this.variables, name, () => this.scope.read(name)),
      path,
    )
  }
}

type Ordered = <T extends number | string>(left: T, right: T) => boolean

const ORDER: Readonly<Record<'<' | '<=' | '>' | '>=', Ordered>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

function once<T>(answers: Map<string, T>, name: string, ask: () => T): T {
  const known = answers.get(name)
  if (known !== undefined || answers.has(name)) return known as T
  const answer = ask()
  answers.set(name, answer)
  return answer
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const kinds: Readonly<Record<string, string>> = {
    string: 'a string',
    number: 'a number',
    boolean: 'a boolean',
  }
  return kinds[typeof value] ?? 'an object'
}
