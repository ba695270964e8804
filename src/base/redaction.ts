/**
 * Removes secrets from output: by key (`secretAccessKey: …`) and by value (a configured secret
 * anywhere, also URL-encoded, JSON-escaped or within base64).
 *
 * 1. The input is never changed.
 * 2. The result is plain JSON data: errors, Maps, Sets and URLs become objects, arrays and strings.
 * 3. Redact before shortening: half a secret is not recognised.
 */

import { REDACTION_MAX_DEPTH } from './limits.ts'
import {
  isSensitiveKey,
  knownSecretFinder,
  secretFinder,
  type FindSecrets,
  type Span,
} from './secret-spans.ts'

/** Replaces a secret. */
export const REDACTED = '[redacted]'

export interface Redactor {
  text(text: string): string
  /** A plain copy of any value, without its secrets. */
  value(value: unknown): unknown
  /** Without the known secrets, and with everything that only looks like one. */
  known(text: string): string
}

/**
 * ```ts
 * const redactor = createRedactor([configuration.lakefs.secretAccessKey])
 * redactor.text(`GET http://key:${secret}@host/`) // 'GET http://[redacted]@host/'
 * ```
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const all = [...secrets]
  const find = secretFinder(all)
  const findKnown = knownSecretFinder(all)
  return {
    known: (text) => redactText(text, findKnown),
    text: (text) => redactText(text, find),
    value: (value) => new Copying(find).copy(value, { hidden: false, depth: 0 }),
  }
}

/** Without known values; redacts by key and by form. */
export const plainRedactor: Redactor = createRedactor()

function redactText(text: string, find: FindSecrets): string {
  const spans = find(text)
  if (spans.length === 0) return text
  let shown = ''
  let at = 0
  for (const { start, end } of joined(spans)) {
    shown += text.slice(at, start) + REDACTED
    at = end
  }
  return shown + text.slice(at)
}

/** Merges overlapping spans: replacing one after the other would leave a part of the second. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = []
  for (const span of [...spans].sort((left, right) => left.start - right.start)) {
    const last = result.at(-1)
    if (last === undefined || span.start > last.end) result.push(span)
    else if (span.end > last.end) result[result.length - 1] = { start: last.start, end: span.end }
  }
  return result
}

interface Place {
  /** Under a sensitive key: every value is hidden. */
  readonly hidden: boolean
  readonly depth: number
}

class Copying {
  readonly #find: FindSecrets
  readonly #ancestors = new Set<object>()

  constructor(find: FindSecrets) {
    this.#find = find
  }

  copy(value: unknown, place: Place): unknown {
    switch (typeof value) {
      case 'undefined':
      case 'boolean':
        return value
      case 'string':
        return place.hidden ? REDACTED : redactText(value, this.#find)
      case 'number':
        // A number is kept unless its digits are a secret.
        return place.hidden || this.#shown(value) !== String(value) ? REDACTED : value
      case 'bigint':
      case 'symbol':
        return place.hidden ? REDACTED : this.#shown(value)
      case 'function':
        return '[function]'
      case 'object':
        return value === null ? null : this.#copyObject(value, place)
      default:
        return '[unknown]'
    }
  }

  #shown(value: number | bigint | symbol): string {
    return redactText(String(value), this.#find)
  }

  #copyObject(value: object, place: Place): unknown {
    if (this.#ancestors.has(value)) return '[circular]'
    if (place.depth >= REDACTION_MAX_DEPTH) return '[too deep]'
    this.#ancestors.add(value)
    try {
      return this.#copyContents(value, { ...place, depth: place.depth + 1 })
    } catch {
      // A getter or an iterator that throws must not lose the log line.
      return '[unreadable]'
    } finally {
      this.#ancestors.delete(value)
    }
  }

  #copyContents(value: object, place: Place): unknown {
    if (Array.isArray(value)) return value.map((item) => this.copy(item, place))
    if (value instanceof Error) return this.#copyError(value, place)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof URL || value instanceof URLSearchParams || value instanceof RegExp) {
      return this.copy(String(value), place)
    }
    // Its entries would be its characters.
    if (value instanceof String) return this.copy(value.valueOf(), place)
    if (value instanceof Set) return [...value].map((item) => this.copy(item, place))
    if (value instanceof Map) return this.#copyMap(value, place)
    if (value instanceof Headers) return this.#copyEntries([...value], place)
    return this.#copyEntries(Object.entries(value), place)
  }

  #copyEntries(entries: readonly (readonly [string, unknown])[], place: Place): Record<string, unknown> {
    return Object.fromEntries(
      entries.map(([key, item]) => [
        redactText(key, this.#find),
        this.copy(item, { ...place, hidden: place.hidden || isSensitiveKey(key) }),
      ]),
    )
  }

  #copyMap(map: ReadonlyMap<unknown, unknown>, place: Place): unknown {
    const entries = [...map]
    if (entries.every((entry): entry is [string, unknown] => typeof entry[0] === 'string')) {
      return this.#copyEntries(entries, place)
    }
    return entries.map(([key, item]) => [
      this.copy(key, place),
      this.copy(item, { ...place, hidden: place.hidden || (typeof key === 'string' && isSensitiveKey(key)) }),
    ])
  }

  #copyError(error: Error, place: Place): Record<string, unknown> {
    const own: [string, unknown][] = Object.entries(error)
    const named: [string, unknown][] = (['name', 'message', 'stack', 'cause', 'errors'] as const)
      .filter((key) => key in error && !own.some(([name]) => name === key))
      .map((key) => [key, (error as Error & { readonly errors?: unknown })[key]])
    return this.#copyEntries([...named, ...own], place)
  }
}
