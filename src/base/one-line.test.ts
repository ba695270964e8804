import { expect, test } from 'vitest'
import { createJsonLogger } from './json-logger.ts'
import { oneLine, printableJson } from './one-line.ts'
import { plainRedactor } from './redaction.ts'

/** C0, DEL, C1, separators of lines, marks and overrides of direction, characters without a width, one of two units. */
const UNSEEN = '\u0000\u001b\u007f\u009b\u2028\u061c\u200e\u202e\u2066\u2069\u200b\ufeff\u{e0041}'
const SEEN = 'naïve שלום 日本 🦆 "\\"'

test('BA-221 a JSON document has no character that controls a terminal or is not seen, and reads back the same', () => {
  const document = { [`key ${UNSEEN}`]: [UNSEEN, SEEN, 7, null, '\ud800'] }
  for (const text of [printableJson(document), printableJson(document, 2)]) {
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    expect(text).toContain('naïve שלום 日本 🦆')
    expect(JSON.parse(text)).toEqual(document)
  }
  expect(printableJson('\u{e0041}\u009b')).toBe(String.raw`"\udb40\udc41\u009b"`)
})

test('BA-221 nor has a line of a log in JSON', () => {
  const lines: string[] = []
  const settings = {
    level: 'info',
    redactor: plainRedactor,
    write: (line: string) => lines.push(line),
  } as const
  createJsonLogger(settings).info(`a ${UNSEEN}`, { object: UNSEEN })
  expect(lines.join('').trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
})

test('BA-221 in a text for people what changes its direction is escaped too', () => {
  expect(oneLine('a\u202eb\u200fc\u061cd\u009be')).toBe(String.raw`a\u202eb\u200fc\u061cd\u009be`)
})
