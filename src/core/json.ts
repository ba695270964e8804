/** JSON that reads back exactly as it was written: a value that JSON cannot represent is refused, with its path. */

import type { Json } from '../base/json.ts'
import { InvalidError } from '../base/errors.ts'
import { JSON_DEPTH_MAX } from './limits.ts'

export interface JsonRule {
  /** What the value is, for messages: `payload`, `variable "a.b"`. */
  readonly what: string
  readonly bytesMax: number
}

/** The value as JSON text. Throws `core/not-json` or `core/too-large`. */
export function encodeJson(value: unknown, rule: JsonRule): string {
  const { what, bytesMax } = rule
  const walk: Walk = { what, bytesMax, chars: 0, hasNegativeZero: false }
  look(value, '', walk, 0)
  const text = walk.hasNegativeZero ? write(value as Json) : JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes > rule.bytesMax) throw tooLarge(rule, `${bytes} bytes`)
  return text
}

/** A deeply frozen copy. */
export function decodeJson(text: string): Json {
  return freezeDeeply(JSON.parse(text) as Json)
}

export function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) freezeDeeply(member)
  return Object.freeze(value)
}

// A byte order mark at the start belongs to the text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function toBytes(text: string): Uint8Array {
  return Buffer.from(text)
}

export function fromBytes(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

interface Walk extends JsonRule {
  /** A lower bound of the length: stops at huge values, such as one object referenced a million times. */
  chars: number
  hasNegativeZero: boolean
}

function look(value: unknown, path: string, walk: Walk, depth: number): void {
  if (depth > JSON_DEPTH_MAX) {
    throw notJson(walk, path, `it is nested deeper than ${JSON_DEPTH_MAX}, or contains itself`)
  }
  walk.chars += typeof value === 'string' ? value.length : 1
  if (walk.chars > walk.bytesMax) throw tooLarge(walk, `more than ${walk.bytesMax} bytes`)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) throw notJson(walk, path, `${value} is not a JSON number`)
      if (Object.is(value, -0)) walk.hasNegativeZero = true
      return
    case 'object':
      if (value === null) return
      if (Array.isArray(value)) lookAtList(value, path, walk, depth)
      else lookAtObject(value, path, walk, depth)
      return
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      throw notJson(walk, path, `${value === undefined ? '' : 'a '}${typeof value} is not a JSON value`)
  }
}

function lookAtList(list: readonly unknown[], path: string, walk: Walk, depth: number): void {
  for (let index = 0; index < list.length; index += 1) look(list[index], `${path}[${index}]`, walk, depth + 1)
}

function lookAtObject(value: object, path: string, walk: Walk, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    const name = (prototype as { constructor?: { name?: string } }).constructor?.name ?? 'class'
    throw notJson(walk, path, `a ${name} is not a plain object`)
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw notJson(walk, path, 'it has symbol keys')
  for (const key of Object.keys(value)) {
    walk.chars += key.length
    look((value as Readonly<Record<string, unknown>>)[key], `${path}.${key}`, walk, depth + 1)
  }
}

/** As `JSON.stringify`, but keeps -0. */
function write(value: Json): string {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(write).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`)
    .join(',')}}`
}

function notJson({ what }: JsonRule, path: string, why: string): InvalidError {
  const where = path === '' ? '' : ` at ${path.slice(0, 200)}`
  return new InvalidError('core/not-json', `store the ${what}: ${why}${where}`, {
    next: 'Store JSON: strings, finite numbers, booleans, null, arrays and plain objects.',
  })
}

function tooLarge({ what, bytesMax }: JsonRule, found: string): InvalidError {
  return new InvalidError(
    'core/too-large',
    `store the ${what}: it has ${found}, the maximum is ${bytesMax}`,
    {
      next: 'Store the data elsewhere and its address here.',
    },
  )
}
