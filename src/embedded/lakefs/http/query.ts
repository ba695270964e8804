/** The query string, read once and strictly: a malformed one is refused before anything else is checked. */

import { EMBEDDED_PAGE_MAX, EMBEDDED_PATH_MAX_BYTES } from '../../limits.ts'
import { HttpProblem } from './answer.ts'

const DEFAULT_AMOUNT = 100

/** Every spelling the real server knows; the Python client capitalizes. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE'])

export class Query {
  readonly #values = new Map<string, string[]>()

  constructor(raw: string) {
    for (const pair of raw.split('&')) {
      if (pair === '') continue
      const equals = pair.indexOf('=')
      const name = decode(equals < 0 ? pair : pair.slice(0, equals))
      const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
      this.#values.set(name, [...(this.#values.get(name) ?? []), value])
    }
  }

  text(name: string): string | undefined {
    const values = this.#values.get(name)
    if (values === undefined) return undefined
    if (values.length > 1) throw bad(name, 'multiple values for single value parameter')
    return values[0]
  }

  texts(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw bad(name, 'value is required but missing')
    if (value === '') throw bad(name, 'empty value is not allowed')
    return value
  }

  /** The `path` of one object. lakeFS never cleans it; only its length is limited. */
  objectPath(name = 'path'): string {
    const value = this.required(name)
    const bytes = Buffer.byteLength(value)
    if (bytes <= EMBEDDED_PATH_MAX_BYTES) return value
    throw new HttpProblem(
      400,
      `argument path: invalid value: validation error: ${String(bytes)} is above maximum length (${String(EMBEDDED_PATH_MAX_BYTES)})`,
    )
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name)
    if (value === undefined || value === '') return undefined
    if (TRUE.has(value)) return true
    if (FALSE.has(value)) return false
    throw bad(name, `value ${value}: an invalid boolean`)
  }

  integer(name: string, range: { readonly least: number; readonly most: number }): number | undefined {
    const value = this.text(name)
    if (value === undefined || value === '') return undefined
    if (!/^-?\d{1,15}$/.test(value)) throw bad(name, `value ${value}: an invalid integer: invalid syntax`)
    const number = Number(value)
    if (number > range.most) throw bad(name, `number must be at most ${String(range.most)}`)
    if (number < range.least) throw bad(name, `number must be at least ${String(range.least)}`)
    return number
  }

  oneOf<Value extends string>(name: string, allowed: readonly Value[]): Value | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const found = allowed.find((candidate) => candidate === value)
    if (found === undefined) {
      throw bad(name, `value is not one of the allowed values ${JSON.stringify(allowed)}`)
    }
    return found
  }

  /** 0 and -1 mean "as many as allowed". */
  page(): { readonly prefix: string; readonly after: string; readonly amount: number } {
    const amount = this.integer('amount', { least: -1, most: EMBEDDED_PAGE_MAX }) ?? DEFAULT_AMOUNT
    return {
      prefix: this.text('prefix') ?? '',
      after: this.text('after') ?? '',
      amount: amount <= 0 ? EMBEDDED_PAGE_MAX : amount,
    }
  }

  /** An empty delimiter is none. */
  delimitedPage(): ReturnType<Query['page']> & { readonly delimiter: string } {
    return { ...this.page(), delimiter: this.text('delimiter') ?? '' }
  }
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    // Bytes that are not UTF-8 would be replaced, so two different keys would become one.
    throw new HttpProblem(400, `query ${JSON.stringify(raw.slice(0, 80))} is not percent-encoded UTF-8`)
  }
}

function bad(name: string, problem: string): HttpProblem {
  return new HttpProblem(400, `parameter "${name}" in query has an error: ${problem}`)
}
