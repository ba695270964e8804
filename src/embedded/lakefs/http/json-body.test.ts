import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'

import { Fields, readJson } from './json-body.ts'

const badRequest = expect.objectContaining({ status: 400 }) as Error

function requestWith(body: string | Buffer, headers: Record<string, string>): IncomingMessage {
  return Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

test('ES-06 a JSON body is read when it says that it is one', async () => {
  const options = { maxBytes: 100 }
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
  await expect(readJson(requestWith(body, JSON_TYPE), { maxBytes: 100 })).rejects.toThrow(tooLarge)
  const announced = { ...JSON_TYPE, 'content-length': '1000' }
  await expect(readJson(requestWith('', announced), { maxBytes: 100 })).rejects.toThrow(tooLarge)
})

test('ES-06 fields are checked one by one', () => {
  const fields = new Fields({ text: 'a', flag: true, number: 1, texts: ['a'], map: { k: 'v' }, none: null })
  expect(fields.text('text')).toBe('a')
  expect(fields.flag('flag')).toBe(true)
  expect(fields.integer('number')).toBe(1)
  expect(fields.texts('texts')).toEqual(['a'])
  expect(fields.metadata('map')).toEqual({ k: 'v' })
  expect(fields.text('missing')).toBeUndefined()
  for (const read of [
    () => fields.text('number'),
    () => fields.flag('text'),
    () => fields.integer('text'),
    () => fields.texts('text'),
    () => fields.metadata('texts'),
    () => fields.text('none'),
    () => fields.requiredText('missing'),
    () => fields.requiredInteger('missing'),
    () => fields.text('toString') ?? fields.requiredText('constructor'),
    () => new Fields([]),
    () => new Fields(null),
    () => new Fields({ map: { n: 1 } }).metadata('map'),
    () => new Fields({ n: 1.5 }).integer('n'),
  ]) {
    expect(read).toThrow(badRequest)
  }
})

test('ES-06 text that is no Unicode is refused rather than replaced', () => {
  const fields = new Fields(JSON.parse('{"path":"\\ud800","paths":["\\udfff"],"fine":"\\ud83d\\ude00"}'))
  expect(() => fields.text('path')).toThrow(badRequest)
  expect(() => fields.texts('paths')).toThrow(badRequest)
  expect(fields.text('fine')).toBe('😀')
})

test('ES-06 a metadata key may be any text', () => {
  const metadata = new Fields(JSON.parse('{"m":{"__proto__":"own","constructor":"c"}}')).metadata('m')
  expect(Object.entries(metadata ?? {})).toEqual([
    ['__proto__', 'own'],
    ['constructor', 'c'],
  ])
})
