import fc from 'fast-check'
import { expect, test } from 'vitest'
import { REDACTION_MIN_SECRET_CHARS } from './limits.ts'
import { createRedactor, REDACTED } from './redaction.ts'

// Lone surrogates cannot be encoded at all; a secret that shares characters with the mask cannot be told from it.
const secret = fc
  .string({ unit: 'grapheme', minLength: REDACTION_MIN_SECRET_CHARS, maxLength: 40 })
  .filter(
    (text) =>
      Buffer.from(text).toString() === text &&
      text.trim() !== '' &&
      !REDACTED.includes(text) &&
      !/[[\]]/.test(text),
  )

const encoders: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => new URLSearchParams({ q: text }).toString(),
  (text) => JSON.stringify({ text }),
  (text) => JSON.stringify({ text: JSON.stringify({ text }) }),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(`key:${text}`).toString('base64'),
  (text) => Buffer.from(`a longer key:${text}:and more`).toString('base64url'),
]

// What somebody who reads the log could turn back into the secret.
function readings(text: string): string[] {
  const found = [text]
  for (let index = 0; index < found.length && index < 64; index++) {
    const one = found[index] ?? ''
    for (const decode of [percent, form, json, ...base64]) {
      const decoded = decode(one)
      if (decoded !== undefined && !found.includes(decoded)) found.push(decoded)
    }
  }
  return found
}
const attempt = (decode: () => string): string | undefined => {
  try {
    return decode()
  } catch {
    return undefined
  }
}
const percent = (text: string): string | undefined => attempt(() => decodeURIComponent(text))
const form = (text: string): string | undefined =>
  attempt(() => decodeURIComponent(text.replaceAll('+', ' ')))
const json = (text: string): string | undefined =>
  attempt(() => {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'string'
      ? parsed
      : Object.values(parsed as Record<string, unknown>)
          .map(String)
          .join(' ')
  })
const base64 = [0, 1, 2, 3].map((skip) => (text: string): string | undefined => {
  const digits = text.match(/[A-Za-z0-9+/_-]{8,}/g)
  return digits?.map((run) => Buffer.from(run.slice(skip), 'base64').toString()).join(' ')
})

test('BA-29 no encoding of a secret, nested anywhere, comes through', () => {
  const place = fc.record({
    before: fc.string({ maxLength: 12 }),
    after: fc.string({ maxLength: 12 }),
    encoder: fc.constantFrom(...encoders),
    key: fc.string(),
    wrap: fc.array(fc.constantFrom('array', 'object', 'map', 'set', 'error', 'cause', 'key'), {
      maxLength: 5,
    }),
  })
  fc.assert(
    fc.property(
      secret,
      fc.array(secret, { maxLength: 3 }),
      place,
      (hidden, others, { before, after, encoder, key, wrap }) => {
        const redactor = createRedactor([...others, hidden])
        const separator = ' '
        const text = before + separator + encoder(hidden) + separator + after
        // A reader finding the secret in what surrounds it has not learnt it from us.
        fc.pre(!(before + after + key).includes(hidden))
        let value: unknown = text
        for (const kind of wrap) value = wrapped(kind, value, key)
        const shown = JSON.stringify([redactor.value(value), redactor.text(text)])
        for (const reading of readings(shown)) expect(reading).not.toContain(hidden)
      },
    ),
    { numRuns: 400 },
  )
})

function wrapped(kind: string, value: unknown, key: string): unknown {
  switch (kind) {
    case 'array':
      return [1, value]
    case 'map':
      return new Map([[key, value]])
    case 'set':
      return new Set([value])
    case 'error':
      return Object.assign(new Error(asText(value)), { details: { [key]: value } })
    case 'cause':
      return new Error('outer', { cause: value })
    case 'key':
      return { [asText(value)]: key }
    default:
      return { [key]: value }
  }
}

/** An object whose own `toString` is none has no text. */
function asText(value: unknown): string {
  return attempt(() => String(value)) ?? 'no text'
}

test('BA-29 a text that holds no secret comes back as it was', () => {
  fc.assert(
    fc.property(secret, fc.lorem({ mode: 'sentences', maxCount: 5 }), (hidden, text) => {
      fc.pre(!text.includes(hidden))
      expect(createRedactor([hidden]).text(text)).toBe(text)
    }),
  )
})
