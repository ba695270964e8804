/**
 * Strings with placeholders: `{{ extract.path }}`, `{{ extract.rows[0]["id"] | default(0) }}`.
 *
 * A placeholder has a variable's full name, a path into its value in brackets, and filters after `|`; or a string in double
 * quotes, such as `{{ "{{" }}` for the braces themselves. Nothing is computed, and only variables can be named.
 */

import { InvalidError, messageOf } from '../../base/errors.ts'
import { TEMPLATE_FILTERS_MAX, TEMPLATE_MAX_CHARS } from '../limits.ts'
import type { Json } from '../../base/json.ts'
import { parseVariableName } from '../namespaces/names.ts'
import { FILTER_NAMES, type FilterName } from './template-filters.ts'

export interface Template {
  readonly text: string
  readonly parts: readonly TemplatePart[]
}

export type TemplatePart = string | TemplatePlace

export interface TemplatePlace {
  /** As written in the template, for messages. */
  readonly shown: string
  readonly of:
    { readonly variable: string; readonly path: readonly (string | number)[] } | { readonly literal: string }
  readonly filters: readonly { readonly name: FilterName; readonly args: readonly Json[] }[]
}

/** Throws `core/bad-template`, with the position and a caret under it. */
export function parseTemplate(text: string): Template {
  if (text.length > TEMPLATE_MAX_CHARS) {
    throw new InvalidError(
      'core/bad-template',
      `read a template: it has ${text.length} characters, the maximum is ${TEMPLATE_MAX_CHARS}`,
      { next: 'Shorten it.' },
    )
  }
  const parts: TemplatePart[] = []
  let at = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (open > at) parts.push(text.slice(at, open))
    const place = new PlaceReader(text, open + 2)
    parts.push(place.read(open))
    at = place.at
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at))
  return { text, parts }
}

const WHITE = /\s*/y
const NAME = /[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*/y
const TEXT = /"(?:[^"\\\n]|\\.)*"/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[a-z]+/y

class PlaceReader {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  read(open: number): TemplatePlace {
    const of = this.#readSource()
    const filters: { name: FilterName; args: readonly Json[] }[] = []
    while (this.#skip('|')) {
      if (filters.length === TEMPLATE_FILTERS_MAX)
        throw this.#bad(`more than ${TEMPLATE_FILTERS_MAX} filters`)
      filters.push(this.#readFilter())
    }
    if (!this.#skip('}}')) throw this.#bad('"|" or "}}" is missing')
    return { shown: this.#text.slice(open, this.at), of, filters }
  }

  #readSource(): TemplatePlace['of'] {
    const literal = this.#match(TEXT)
    if (literal !== undefined) return { literal: this.#unquote(literal) }
    const start = this.at
    const name = this.#match(NAME)
    if (name === undefined) throw this.#bad('the name of a variable is missing')
    try {
      parseVariableName(name)
    } catch (error) {
      this.at = start
      this.#match(WHITE)
      throw this.#bad(messageOf(error), error)
    }
    const path: (string | number)[] = []
    while (this.#skip('[')) path.push(this.#readStep())
    return { variable: name, path }
  }

  #readStep(): string | number {
    const quoted = this.#match(TEXT)
    const digits = quoted === undefined ? this.#match(/\d{1,9}/y) : undefined
    if (quoted === undefined && digits === undefined)
      throw this.#bad('a number or a string in double quotes is missing')
    if (!this.#skip(']')) throw this.#bad('"]" is missing')
    return quoted === undefined ? Number(digits) : this.#unquote(quoted)
  }

  #readFilter(): { name: FilterName; args: readonly Json[] } {
    const start = this.at
    const name = this.#match(WORD)
    if (name === undefined || !isFilterName(name)) {
      this.at = start
      this.#match(WHITE)
      throw this.#bad(`one of the filters ${FILTER_NAMES.join(', ')} is missing`)
    }
    const args: Json[] = []
    if (this.#skip('(')) {
      do args.push(this.#readLiteral())
      while (this.#skip(','))
      if (!this.#skip(')')) throw this.#bad('")" is missing')
    }
    const [least, most] = name === 'default' ? [1, 1] : name === 'join' ? [0, 1] : [0, 0]
    if (args.length < least || args.length > most)
      throw this.#bad(`"${name}" has a wrong number of arguments`)
    return { name, args }
  }

  #readLiteral(): Json {
    const quoted = this.#match(TEXT)
    if (quoted !== undefined) return this.#unquote(quoted)
    const digits = this.#match(NUMBER)
    if (digits !== undefined) return Number(digits)
    const word = this.#match(WORD)
    if (word === 'true' || word === 'false') return word === 'true'
    if (word === 'null') return null
    throw this.#bad('a string, a number, true, false or null is missing')
  }

  #skip(mark: string): boolean {
    this.#match(WHITE)
    if (!this.#text.startsWith(mark, this.at)) return false
    this.at += mark.length
    return true
  }

  #match(pattern: RegExp): string | undefined {
    if (pattern !== WHITE) this.#match(WHITE)
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#text) ?? []
    if (found !== undefined) this.at += found.length
    return found
  }

  #unquote(quoted: string): string {
    try {
      return JSON.parse(quoted) as string
    } catch (error) {
      throw this.#bad('the string before has an escape that is not valid in JSON', error)
    }
  }

  #bad(why: string, cause?: unknown): InvalidError {
    const line = this.#text.slice(Math.max(0, this.at - 60), this.at + 20).replaceAll(/\s/g, ' ')
    const caret = `${' '.repeat(Math.min(60, this.at))}^`
    return new InvalidError('core/bad-template', `read a template, at character ${this.at + 1}: ${why}`, {
      details: { at: this.at, shown: `${line}\n${caret}` },
      next: 'Correct the template.',
      cause,
    })
  }
}

function isFilterName(name: string): name is FilterName {
  return (FILTER_NAMES as readonly string[]).includes(name)
}
