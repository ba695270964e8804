import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'

import {
  flag,
  integer,
  listOf,
  metadata,
  objectOf,
  optional,
  readJson,
  text,
  type Reader,
} from './json-body.ts'

const badRequest = expect.objectContaining({ status: 400 }) as Error

function requestWith(body: string | Buffer, headers: Record<string, string>): IncomingMessage {
  return Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

test('ES-06 a JSON body is read when it says that it is one', async () => {
  const options = { maxBytes: 100, maxMs: 5_000, optional: false }
  expect(await readJson(requestWith('{"a":1}', JSON_TYPE), options)).toEqual({ a: 1 })
  await expect(readJson(requestWith('{"a":1}', { 'content-type': 'text/plain' }), options)).rejects.toThrow(
    badRequest,
  )
  await expect(readJson(requestWith('{', JSON_TYPE), options)).rejects.toThrow(badRequest)
  await expect(readJson(requestWith(Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE), options)).rejects.toThrow(
    badRequest,
  )
  await expect(readJson(requestWith('', JSON_TYPE), options)).rejects.toThrow(badRequest)
  expect(await readJson(requestWith('', {}), { ...options, optional: true })).toBeUndefined()
})

test('ES-07 a JSON body beyond the limit is refused, announced or not', async () => {
  const tooLarge = expect.objectContaining({ status: 413 }) as Error
  const body = JSON.stringify('x'.repeat(200))
  await expect(
    readJson(requestWith(body, JSON_TYPE), { maxBytes: 100, maxMs: 5_000, optional: false }),
  ).rejects.toThrow(tooLarge)
  const announced = { ...JSON_TYPE, 'content-length': '1000' }
  await expect(
    readJson(requestWith('', announced), { maxBytes: 100, maxMs: 5_000, optional: false }),
  ).rejects.toThrow(tooLarge)
})

test('ES-06 fields are checked one by one', () => {
  const read = objectOf({
    text,
    flag,
    number: integer,
    texts: listOf(text),
    map: metadata,
    inner: objectOf({ text }),
    missing: optional(text),
  })
  const body = { text: 'a', flag: true, number: 1, texts: ['a'], map: { k: 'v' }, inner: { text: 'b' } }
  expect(read({ ...body, more: 1 }, '')).toEqual({ ...body, missing: undefined })
})

test.each<[string, Reader<unknown>, unknown, string]>([
  ['a number where text is due', objectOf({ a: text }), { a: 1 }, '"/a": value must be a string'],
  ['text where a flag is due', objectOf({ a: flag }), { a: 'x' }, '"/a": value must be a boolean'],
  ['text where a number is due', objectOf({ a: integer }), { a: '1' }, '"/a": value must be an integer'],
  ['a fraction', objectOf({ a: integer }), { a: 1.5 }, '"/a": value must be an integer'],
  ['text where a list is due', objectOf({ a: listOf(text) }), { a: 'x' }, '"/a": value must be an array'],
  ['a list where a map is due', objectOf({ a: metadata }), { a: ['x'] }, '"/a": value must be an object'],
  ['a wrong item', objectOf({ a: listOf(text) }), { a: ['x', 1] }, '"/a/1": value must be a string'],
  ['a wrong value of a map', objectOf({ a: metadata }), { a: { n: 1 } }, '"/a/n": value must be a string'],
  ['null', objectOf({ a: optional(text) }), { a: null }, '"/a": value is not nullable'],
  ['a field that is not there', objectOf({ a: text }), {}, '"/a": property "a" is missing'],
  ['a name that objects inherit', objectOf({ toString: text }), {}, 'property "toString" is missing'],
  ['a list as the body', objectOf({}), [], 'value must be an object'],
  ['null as the body', objectOf({}), null, 'value is not nullable'],
])('ES-06 a body is refused for %s', (_, read, body, message) => {
  expect(() => read(body, '')).toThrow(badRequest)
  expect(() => read(body, '')).toThrow(message)
})

test('ES-06 a string that is not Unicode is refused, not replaced', () => {
  const read = objectOf({ path: optional(text), paths: optional(listOf(text)) })
  expect(() => read(JSON.parse('{"path":"\\ud800"}'), '')).toThrow(badRequest)
  expect(() => read(JSON.parse('{"paths":["\\udfff"]}'), '')).toThrow(badRequest)
  expect(read(JSON.parse('{"path":"\\ud83d\\ude00"}'), '').path).toBe('😀')
})

test('ES-06 a metadata key may be any string', () => {
  expect(Object.entries(metadata(JSON.parse('{"__proto__":"own","constructor":"c"}'), ''))).toEqual([
    ['__proto__', 'own'],
    ['constructor', 'c'],
  ])
})
