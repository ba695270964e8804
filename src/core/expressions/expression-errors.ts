/** Errors in expressions, with their position: a number for programs, a caret for people. */

import { InvalidError } from '../../base/errors.ts'
import { blankControls, oneLine } from '../../base/one-line.ts'

/** Characters shown on each side of the caret. */
const EXCERPT_CHARS = 40

export interface ExpressionFault {
  readonly text: string
  /** The position: an index into the text, or its length for the end. */
  readonly at: number
  readonly problem: string
  readonly next?: string | undefined
}

/** An expression that cannot be parsed. `details.excerpt` shows the position with a caret under it. */
export function badExpression(fault: ExpressionFault): InvalidError {
  return new InvalidError('core/bad-expression', `read the expression ${describe(fault)}`, optionsOf(fault))
}

/** An expression that meets a value it cannot evaluate. */
export function badComparison(fault: ExpressionFault): InvalidError {
  return new InvalidError(
    'core/bad-comparison',
    `evaluate the expression ${describe(fault)}`,
    optionsOf(fault),
  )
}

/** The line with the error, and a caret under the position. */
export function drawCaret(text: string, at: number): string {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const lineEnd = text.indexOf('\n', at)
  const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd)
  const column = at - lineStart
  const from = Math.max(0, column - EXCERPT_CHARS)
  const to = Math.min(line.length, column + EXCERPT_CHARS)
  const head = (from > 0 ? '…' : '') + blankControls(line.slice(from, column))
  const tail = blankControls(line.slice(column, to)) + (to < line.length ? '…' : '')
  return `${head}${tail}\n${' '.repeat(countCharacters(head))}^`
}

function describe({ text, at, problem }: ExpressionFault): string {
  const { line, column } = placeOf(text, at)
  const where = text.includes('\n') ? `line ${line}, character ${column}` : `character ${column}`
  return `"${excerpt(text, at)}" at ${where}: ${oneLine(problem)}`
}

function optionsOf({ text, at, next }: ExpressionFault) {
  return { details: { position: at, ...placeOf(text, at), excerpt: drawCaret(text, at) }, next }
}

function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, at).split('\n')
  return { line: lines.length, column: countCharacters(lines.at(-1) ?? '') + 1 }
}

function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - EXCERPT_CHARS)
  const to = Math.min(text.length, at + EXCERPT_CHARS)
  return `${from > 0 ? '…' : ''}${oneLine(text.slice(from, to))}${to < text.length ? '…' : ''}`
}

/** In code points: close to what an editor counts. */
function countCharacters(text: string): number {
  return Array.from(text).length
}
