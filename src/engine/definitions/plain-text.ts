/**
 * Reads what most pipeline files are made of, many times faster than the parser of all YAML: JSON, and YAML of block maps and lists,
 * scalars on one line, and flow collections on one line.
 *
 * - PT-1 What it reads has no error for the parser of all YAML, and the same value. Whatever it is not sure of it leaves to that one.
 */

import type { Json } from '../../base/json.ts'

/** `undefined`: left to the parser of all YAML. */
export function readPlainText(text: string): Json | undefined {
  if (!PLAIN_CHARS.test(text)) return undefined
  if (/^\s*[{[]/.test(text)) return readJson(text)
  const lines = contentLines(text)
  return lines === undefined ? undefined : new BlockReader(lines).read()
}

/** A key twice is an error in a pipeline; `JSON.parse` would take the last one. */
function readJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    let keysInText = 0
    // Every string, so that none begins inside another one.
    for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) keysInText++
    return countKeys(value) === keysInText ? value : undefined
  } catch {
    return undefined
  }
}

function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce<number>((sum, item) => sum + countKeys(item), 0)
  return Array.isArray(value) ? inner : inner + Object.keys(value).length
}

/** No tabs, no other line breaks, no byte order mark, nothing beyond the basic plane. */
const PLAIN_CHARS = /^[\n\x20-\x7e\xa1-\u2027\u2030-\ud7ff\ue000-\ufefe]*$/

interface Line {
  readonly indent: number
  readonly text: string
}

function contentLines(text: string): Line[] | undefined {
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const line = raw.replace(/ +$/, '')
    const content = line.replace(/^ +/, '')
    if (content === '' || content.startsWith('#')) continue
    if (/^(?:---|\.\.\.|%)/.test(line)) return undefined
    lines.push({ indent: line.length - content.length, text: content })
  }
  return lines
}

/** Thrown inside this module alone. */
const UNSURE = Symbol('unsure')

/** Words that are not text, and keys that YAML or JavaScript treat in another way. */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['null', 'Null', 'NULL'].map((word) => [word, null] as const),
])
const KEY = /^([A-Za-z_][A-Za-z0-9_.-]{0,200}):(?: +|$)/
const STEPS_DEEP_MAX = 100

class BlockReader {
  readonly #lines: Line[]
  #at = 0
  #depth = 0

  constructor(lines: Line[]) {
    this.#lines = lines
  }

  read(): Json | undefined {
    const [first] = this.#lines
    if (first?.indent !== 0) return undefined
    try {
      const value = this.#map(0)
      return this.#at === this.#lines.length ? value : undefined
    } catch (error) {
      if (error === UNSURE) return undefined
      throw error
    }
  }

  #map(indent: number): Json {
    this.#goDeeper()
    const map: Record<string, Json> = {}
    for (let line = this.#lineAt(indent); line !== undefined; line = this.#lineAt(indent)) {
      const [whole, key] = KEY.exec(line.text) ?? unsure()
      if (key === undefined || WORDS.has(key) || key === '__proto__' || Object.hasOwn(map, key))
        return unsure()
      map[key] = this.#valueOf(line.text.slice(whole.length), indent)
    }
    this.#depth--
    return map
  }

  #list(indent: number): Json {
    this.#goDeeper()
    const list: Json[] = []
    for (let line = this.#lineAt(indent); line?.text.startsWith('- '); line = this.#lineAt(indent)) {
      const rest = line.text.slice(2)
      if (KEY.test(rest)) {
        // The map begins where its first key is.
        this.#lines[this.#at] = { indent: indent + 2, text: rest }
        list.push(this.#map(indent + 2))
      } else list.push(this.#scalar(rest, indent))
    }
    this.#depth--
    return list
  }

  #valueOf(text: string, indent: number): Json {
    if (text !== '') return this.#scalar(text, indent)
    this.#at++
    const next = this.#lines[this.#at]
    if (next === undefined || next.indent < indent) return null
    if (next.text.startsWith('- ')) return this.#list(next.indent)
    return next.indent > indent ? this.#map(next.indent) : null
  }

  /** On one line: a deeper line after it would continue it. */
  #scalar(text: string, indent: number): Json {
    this.#at++
    const next = this.#lines[this.#at]
    if (next !== undefined && next.indent > indent) return unsure()
    return new LineReader(text).read()
  }

  /** `undefined`: the block has ended. */
  #lineAt(indent: number): Line | undefined {
    const line = this.#lines[this.#at]
    if (line !== undefined && line.indent > indent) return unsure()
    return line?.indent === indent ? line : undefined
  }

  #goDeeper(): void {
    if (++this.#depth > STEPS_DEEP_MAX) unsure()
  }
}

const SINGLE_QUOTED = /'((?:[^']|'')*)'/y
const DOUBLE_QUOTED = /"([^"\\]*)"/y
const FLOW_PLAIN = /[A-Za-z0-9_/][A-Za-z0-9_./-]*/y
const FLOW_KEY = /([A-Za-z_][A-Za-z0-9_.-]{0,200}): +/y

/** A value on one line. */
class LineReader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Json {
    const first = this.#text.charAt(0)
    if (!`{['"`.includes(first)) return plainOf(this.#text)
    const value = this.#flow()
    return this.#at === this.#text.length ? value : unsure()
  }

  #flow(): Json {
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#flowMap()
      case '[':
        return this.#flowList()
      case "'":
        return (this.#take(SINGLE_QUOTED)[1] ?? '').replaceAll("''", "'")
      case '"':
        return this.#take(DOUBLE_QUOTED)[1] ?? ''
      default:
        return plainOf(this.#take(FLOW_PLAIN)[0])
    }
  }

  #flowMap(): Json {
    const map: Record<string, Json> = {}
    this.#items('}', () => {
      const [, key = ''] = this.#take(FLOW_KEY)
      if (WORDS.has(key) || key === '__proto__' || Object.hasOwn(map, key)) unsure()
      map[key] = this.#flow()
    })
    return map
  }

  #flowList(): Json {
    const list: Json[] = []
    this.#items(']', () => list.push(this.#flow()))
    return list
  }

  /** From the opening bracket to the closing one. */
  #items(close: string, readItem: () => void): void {
    if (++this.#depth > STEPS_DEEP_MAX) unsure()
    this.#at++
    this.#spaces()
    if (this.#text.charAt(this.#at) !== close) {
      for (;;) {
        readItem()
        this.#spaces()
        const mark = this.#text.charAt(this.#at)
        if (mark === close) break
        if (mark !== ',') unsure()
        this.#at++
        this.#spaces()
      }
    }
    this.#at++
    this.#depth--
  }

  #spaces(): void {
    while (this.#text.charAt(this.#at) === ' ') this.#at++
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? unsure()
    this.#at = pattern.lastIndex
    return found
  }
}

/** Text without quotes; numbers in other forms than the usual one are left to the other parser. */
function plainOf(text: string): Json {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!/^[A-Za-z0-9_/$]/.test(text) || / #|: |:$/.test(text)) return unsure()
  if (!/^[0-9]/.test(text) || Number.isNaN(Number(text))) return text
  return /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,10})?$/.test(text) ? Number(text) : unsure()
}

function unsure(): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- no failure: a stack would cost more than what is read
  throw UNSURE
}
