/**
 * Parses an expression once; evaluating it does not use the text again.
 *
 * ```text
 * condition  = conjunction { "||" conjunction }
 * conjunction= negation { "&&" negation }
 * negation   = "!" negation | "(" condition ")" | event | "exists" "(" variable ")" | comparison
 * comparison = value [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value ]
 * value      = variable | string | number | "true" | "false" | "null"
 * variable   = name "." name { "." name } { "[" ( string | number ) "]" }
 * event      = "event:" name "." name { "." name }
 * ```
 */

import { EXPRESSION_MAX_CHARS, EXPRESSION_MAX_DEPTH } from '../limits.ts'
import { badExpression } from './expression-errors.ts'
import { readTokens, type Sign, type Token } from './read-tokens.ts'
import {
  COMPARISON_OPERATORS,
  type ComparisonOperator,
  type Condition,
  type Expression,
  type Literal,
  type TruthLiteral,
  type Value,
} from './syntax.ts'

/**
 * Parses an expression. Throws `core/bad-expression` with the position of the error.
 *
 * ```ts
 * const expression = parseExpression('event:extract.completed && extract.row_count > 0')
 * ```
 */
export function parseExpression(text: string): Expression {
  if (typeof (text as unknown) !== 'string') {
    const problem = `it is a value of type ${typeof text} and must be a string`
    throw badExpression({ text: '', at: 0, problem })
  }
  if (text.length > EXPRESSION_MAX_CHARS) {
    const problem = `it has ${text.length} characters; the maximum is ${EXPRESSION_MAX_CHARS}`
    throw badExpression({ text, at: EXPRESSION_MAX_CHARS, problem, next: 'Split the work into more nodes.' })
  }
  return Object.freeze({ text, condition: new Parser(text).parseWhole() })
}

/** Operators of other languages. */
const MEANT: Readonly<Record<string, string>> = { and: '&&', or: '||', not: '!' }

class Parser {
  private readonly text: string
  private readonly tokens: readonly Token[]
  private index = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
    this.tokens = readTokens(text)
  }

  parseWhole(): Condition {
    if (this.isAtEnd()) throw this.fault(this.next, 'it is empty')
    const condition = this.parseRow('any', '||', () => this.parseConjunction())
    if (this.isAtEnd()) return condition
    if (this.isSign(')')) throw this.fault(this.next, 'no "(" belongs to this ")"')
    throw this.fault(this.next, `"&&", "||" or the end is expected, not ${name(this.next)}`, this.hint())
  }

  private parseConjunction(): Condition {
    return this.parseRow('all', '&&', () => this.parseNegation())
  }

  private parseRow(kind: 'all' | 'any', sign: '&&' | '||', parseOne: () => Condition): Condition {
    const { at } = this.next
    const of = [parseOne()]
    while (this.takeSign(sign)) of.push(parseOne())
    const [only] = of
    return only !== undefined && of.length === 1 ? only : Object.freeze({ kind, of: Object.freeze(of), at })
  }

  private parseNegation(): Condition {
    const first = this.next
    if (this.takeSign('!')) {
      const isEnclosed = this.isSign('(')
      const of = this.deeper(first, () => this.parseNegation())
      // "!a.x == 1" is "(!a.x) == 1" in some languages and "!(a.x == 1)" in others.
      if (of.kind === 'compare' && !isEnclosed) {
        throw this.fault(first, 'it is unclear what "!" negates here', 'Put the comparison in parentheses.')
      }
      return Object.freeze({ kind: 'not', of, at: first.at })
    }
    if (this.takeSign('(')) return this.parseParenthesis(first)
    if (first.kind === 'event') {
      this.index++
      return Object.freeze({ kind: 'event', type: first.type, at: first.at })
    }
    if (first.kind === 'word' && first.word === 'exists') return this.parseExists(first)
    return this.parseComparison()
  }

  private parseParenthesis(open: Token): Condition {
    const inside = this.deeper(open, () => this.parseRow('any', '||', () => this.parseConjunction()))
    this.close(')', open)
    return inside
  }

  private parseExists(first: Token): Condition {
    this.index++
    const open = this.next
    if (!this.takeSign('(')) throw this.fault(open, '"exists" needs a variable in parentheses')
    const variable = this.parseValue()
    if (variable.kind !== 'variable') throw this.fault(variable, '"exists" needs a variable')
    this.close(')', open)
    return Object.freeze({ kind: 'exists', variable, at: first.at })
  }

  private parseComparison(): Condition {
    const left = this.parseValue()
    const { at } = this.next
    const operator = this.takeComparison()
    if (operator === undefined) return this.asFlag(left)
    const right = this.parseValue()
    if (this.isComparison(this.next)) {
      throw this.fault(this.next, 'comparisons cannot be chained', 'Join two comparisons with &&.')
    }
    this.checkOrder(operator, [left, right], at)
    return Object.freeze({ kind: 'compare', operator, left, right, at })
  }

  private asFlag(value: Value): Condition {
    if (value.kind === 'variable' || isTruth(value))
      return Object.freeze({ kind: 'flag', value, at: value.at })
    const problem = `${JSON.stringify(value.value)} is neither true nor false`
    throw this.fault(value, problem, 'Compare it with something.')
  }

  /** Refuses comparisons of literals that could never be evaluated. */
  private checkOrder(operator: ComparisonOperator, values: readonly Value[], at: number): void {
    if (operator === '==' || operator === '!=') return
    const literals = values.filter((value) => value.kind === 'literal')
    const odd = literals.find(({ value }) => value === null || typeof value === 'boolean')
    if (odd !== undefined) throw this.fault(odd, `${String(odd.value)} cannot be ordered`)
    const [first, second] = literals
    if (first !== undefined && second !== undefined && typeof first.value !== typeof second.value) {
      throw this.fault({ at }, 'a number and a string cannot be ordered')
    }
  }

  private parseValue(): Value {
    const token = this.next
    if (token.kind === 'word') return this.parseWord(token)
    if (token.kind === 'string' || token.kind === 'number') {
      this.index++
      return Object.freeze({ kind: 'literal', value: token.value, at: token.at })
    }
    if (token.kind === 'event') throw this.fault(token, 'an event cannot be compared')
    if (token.kind === 'sign' && token.sign === '(') {
      throw this.fault(token, 'a compared value must not be in parentheses')
    }
    throw this.fault(token, `a condition or a value is expected, not ${name(token)}`)
  }

  private parseWord(token: Token & { readonly kind: 'word' }): Value {
    const { word, at } = token
    const known: Readonly<Record<string, Literal['value']>> = { true: true, false: false, null: null }
    if (Object.hasOwn(known, word)) {
      this.index++
      return Object.freeze({ kind: 'literal', value: known[word] ?? null, at })
    }
    if (!word.includes('.')) {
      const problem = `"${word}" is not a variable: a variable's name begins with a namespace and a dot`
      throw this.fault(token, problem, this.hint() ?? 'Write node.name, or "string" in quotes.')
    }
    this.index++
    return Object.freeze({ kind: 'variable', name: word, path: Object.freeze(this.parsePath()), at })
  }

  private parsePath(): (string | number)[] {
    const path: (string | number)[] = []
    for (let open = this.next; this.takeSign('['); open = this.next) {
      const step = this.next
      if (step.kind !== 'string' && step.kind !== 'number') {
        throw this.fault(step, `a string or a number is expected within "[ ]", not ${name(step)}`)
      }
      if (typeof step.value === 'number' && !(Number.isSafeInteger(step.value) && step.value >= 0)) {
        throw this.fault(step, 'an index must be a whole number from 0 on')
      }
      this.index++
      path.push(step.value)
      this.close(']', open)
    }
    return path
  }

  private get next(): Token {
    return this.tokens[this.index] ?? { kind: 'end', at: this.text.length }
  }

  private isAtEnd(): boolean {
    return this.next.kind === 'end'
  }

  private isSign(sign: Sign): boolean {
    return this.next.kind === 'sign' && this.next.sign === sign
  }

  private takeSign(sign: Sign): boolean {
    if (!this.isSign(sign)) return false
    this.index++
    return true
  }

  private isComparison(token: Token): boolean {
    return token.kind === 'sign' && COMPARISON_OPERATORS.some((operator) => operator === token.sign)
  }

  private takeComparison(): ComparisonOperator | undefined {
    return COMPARISON_OPERATORS.find((operator) => this.takeSign(operator))
  }

  private close(sign: ')' | ']', open: Token): void {
    if (this.takeSign(sign)) return
    if (this.isAtEnd()) throw this.fault(open, `this has no closing "${sign}"`)
    throw this.fault(this.next, `"${sign}" is expected, not ${name(this.next)}`, this.hint())
  }

  private deeper<T>(token: Token, parse: () => T): T {
    if (++this.depth > EXPRESSION_MAX_DEPTH) {
      throw this.fault(token, `it is nested more than ${EXPRESSION_MAX_DEPTH} deep`)
    }
    const parsed = parse()
    this.depth--
    return parsed
  }

  private hint(): string | undefined {
    const token = this.next
    const meant = token.kind === 'word' && Object.hasOwn(MEANT, token.word) ? MEANT[token.word] : undefined
    return meant === undefined ? undefined : `Write ${meant}.`
  }

  private fault({ at }: { readonly at: number }, problem: string, next?: string): Error {
    return badExpression({ text: this.text, at, problem, next })
  }
}

function isTruth(value: Literal): value is TruthLiteral {
  return typeof value.value === 'boolean'
}

function name(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end'
    case 'sign':
      return `"${token.sign}"`
    case 'event':
      return `"event:${token.type}"`
    case 'word':
      return `"${token.word}"`
    default:
      return JSON.stringify(token.value)
  }
}
