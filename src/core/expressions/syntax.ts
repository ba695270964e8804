/**
 * The syntax tree of an expression: conditions, and the values they compare. Plain, frozen data.
 *
 * A **condition** is true, false or open; a **value** is JSON or absent. The grammar separates the two, so that most errors
 * are found while parsing.
 */

export type Condition =
  | { readonly kind: 'event'; readonly type: string; readonly at: number }
  | { readonly kind: 'exists'; readonly variable: VariableReference; readonly at: number }
  | { readonly kind: 'flag'; readonly value: VariableReference | TruthLiteral; readonly at: number }
  | {
      readonly kind: 'compare'
      readonly operator: ComparisonOperator
      readonly left: Value
      readonly right: Value
      readonly at: number
    }
  | { readonly kind: 'not'; readonly of: Condition; readonly at: number }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[]; readonly at: number }

export const COMPARISON_OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number]

export type Value = VariableReference | Literal

export interface Literal {
  readonly kind: 'literal'
  readonly value: string | number | boolean | null
  readonly at: number
}

export type TruthLiteral = Literal & { readonly value: boolean }

export interface VariableReference {
  readonly kind: 'variable'
  readonly name: string
  /** The path into the variable's value: properties by name, array elements by number. */
  readonly path: readonly (string | number)[]
  readonly at: number
}

/** A parsed expression, with its text for messages. Every `at` is an index into the text. */
export interface Expression {
  readonly text: string
  readonly condition: Condition
}
