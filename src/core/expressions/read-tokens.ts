/** Splits an expression into tokens, and reports every error that needs no grammar. */

import { badExpression } from './expression-errors.ts'

export type Token =
  | { readonly kind: 'sign'; readonly sign: Sign; readonly at: number }
  | { readonly kind: 'event'; readonly type: string; readonly at: number }
  | { readonly kind: 'word'; readonly word: string; readonly at: number }
  | { readonly kind: 'string' | 'number'; readonly value: string | number; readonly at: number }
  | { readonly kind: 'end'; readonly at: number }

const SIGNS = ['&&', '||', '==', '!=', '<=', '>=', '<', '>', '!', '(', ')', '[', ']'] as const
export type Sign = (typeof SIGNS)[number]

const SPACE = /[ \t\r\n]*/y
const EVENT = /event:/y
/** The characters of a name, and others that people write there by mistake. */
const NAME_LIKE = /[\p{L}\p{N}_.*:/-]*/uy
const WORD = /[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.-])/y
const DOTTED = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+$/

/** Operators of other languages, and ours. */
const MEANT: readonly (readonly [string, string])[] = [
  ['===', '=='],
  ['!==', '!='],
  ['=', '=='],
  ['&', '&&'],
  ['|', '||'],
]

export function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    at += matchAt(SPACE, text, at).length
    if (at === text.length) return [...tokens, { kind: 'end', at }]
    const { token, length } = readToken(text, at)
    tokens.push(token)
    at += length
  }
}

interface Found {
  readonly token: Token
  readonly length: number
}

function readToken(text: string, at: number): Found {
  const quote = text.charAt(at)
  if (quote === '"' || quote === "'") return readString(text, at, quote)
  const prefix = matchAt(EVENT, text, at)
  if (prefix !== '') return readEvent(text, at, prefix)
  const number = matchAt(NUMBER, text, at)
  if (number !== '') return readNumber(text, at, number)
  const word = matchAt(WORD, text, at)
  if (word !== '') return { token: { kind: 'word', word, at }, length: word.length }
  return readSign(text, at)
}

function readEvent(text: string, at: number, prefix: string): Found {
  const type = matchAt(NAME_LIKE, text, at + prefix.length)
  if (DOTTED.test(type)) return { token: { kind: 'event', type, at }, length: prefix.length + type.length }
  const problem =
    type === ''
      ? 'the name of an event must follow "event:", without a space'
      : type.includes('*')
        ? `"${type}" has a wildcard; an expression must name a whole event type`
        : `"${type}" is not an event type: it must have two or more parts of letters, digits, "_" and "-", joined by dots`
  throw badExpression({
    text,
    at: at + prefix.length,
    problem,
    next: 'Name one event, as in event:a.completed.',
  })
}

function readNumber(text: string, at: number, digits: string): Found {
  // -0 becomes 0, as JSON writes it.
  const value = Number(digits) + 0
  if (!Number.isFinite(value)) throw badExpression({ text, at, problem: 'the number is too large' })
  return { token: { kind: 'number', value, at }, length: digits.length }
}

function readSign(text: string, at: number): Found {
  for (const [written, meant] of MEANT) {
    const isOurs = SIGNS.some((sign) => sign.length >= written.length && text.startsWith(sign, at))
    if (text.startsWith(written, at) && !isOurs) {
      throw badExpression({ text, at, problem: `"${written}" is not valid here`, next: `Write ${meant}.` })
    }
  }
  const sign = SIGNS.find((candidate) => text.startsWith(candidate, at))
  if (sign !== undefined) return { token: { kind: 'sign', sign, at }, length: sign.length }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
  const next = character === '{' ? 'Name a variable without braces: node.name.' : undefined
  const problem = `${JSON.stringify(character)} is not valid here`
  throw badExpression({ text, at, problem, next })
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** As in JSON, in single or double quotes. */
function readString(text: string, start: number, quote: string): Found {
  let value = ''
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === quote) {
      return { token: { kind: 'string', value, at: start }, length: at + 1 - start }
    }
    if (character === '\n' || character === '\r') break
    if (character !== '\\') {
      value += character
      continue
    }
    const escaped = text.charAt(at + 1)
    const code = /^[0-9a-fA-F]{4}$/.exec(text.slice(at + 2, at + 6))?.[0]
    if (escaped === 'u' && code !== undefined) {
      value += String.fromCharCode(parseInt(code, 16))
      at += 5
    } else if (Object.hasOwn(ESCAPES, escaped)) {
      value += ESCAPES[escaped] ?? ''
      at += 1
    } else {
      throw badExpression({
        text,
        at,
        problem: 'a backslash must begin one of \\" \\\' \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
      })
    }
  }
  throw badExpression({ text, at: start, problem: `this string has no closing ${quote}` })
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
