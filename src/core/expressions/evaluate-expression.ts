/**
 * What an expression says about one execution, at one moment.
 *
 * - EV-1 It reaches its scope and nothing else: names are texts that the scope is asked for, and steps into values see own
 *   data only. Nothing is called, computed or loaded.
 * - EV-2 It is **open** while it depends on a variable that is not there: neither true nor false, and so also not its denial.
 *   `||` is true as soon as one side is, `&&` false as soon as one side is; that decides, whatever is open beside it.
 * - EV-3 Each name is asked for once at most, so that one evaluation sees one answer.
 */

import { badComparison } from './expression-errors.ts'
import { areEqual, readPath } from './json-values.ts'
import type { Condition, Expression, Value, VariableReference } from './syntax.ts'

/** All that an expression can see: one execution's events and variables. */
export interface ExpressionScope {
  /** Has an event of exactly this type happened? */
  has(eventType: string): boolean
  /** The variable's value as JSON, or `undefined` while there is none. */
  read(variable: string): unknown
}

/** `undefined`: open, it depends on a variable that is not there yet. */
export type Verdict = boolean | undefined

/**
 * Throws `core/bad-comparison` where a value cannot be judged: the order of a number and a text, or a condition that is
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

  /** `deciding` is what settles the row whatever the others say. */
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
    const problem = `${kindOf(left)} and ${kindOf(right)} have no order between them`
    throw badComparison({ text: this.text, at, problem, next: 'Compare two numbers or two texts.' })
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
  if (Array.isArray(value)) return 'a list'
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    boolean: 'a truth value',
  }
  return kinds[typeof value] ?? 'an object'
}
