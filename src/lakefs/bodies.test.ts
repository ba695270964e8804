import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { openForSending, verified } from './bodies.ts'

const content = Buffer.from('some bytes to travel')
const md5 = createHash('md5').update(content).digest('hex')
const what = 'test'
const pieces = (): Readable =>
  Readable.from([content.subarray(0, 5), content.subarray(5)], { objectMode: false })

test('LC-64 what arrives whole and unharmed is handed on', async () => {
  const body = verified(pieces(), { sizeBytes: content.length, md5, what })
  expect(await buffer(body)).toEqual(content)
})

test.each([
  ['too short', { sizeBytes: content.length + 1, md5 }, 'lakefs/short-body'],
  ['too long', { sizeBytes: content.length - 1, md5 }, 'lakefs/short-body'],
  ['other bytes', { sizeBytes: content.length, md5: '0'.repeat(32) }, 'lakefs/checksum-mismatch'],
])('LC-65 a body that is %s fails at its end', async (_, expected, code) => {
  const body = verified(pieces(), { ...expected, what })
  await expect(buffer(body)).rejects.toMatchObject({ kind: 'unavailable', code })
})

test('LC-66 without a comparable checksum only the length is held against the body', async () => {
  const body = verified(pieces(), { sizeBytes: content.length, what })
  expect(await buffer(body)).toEqual(content)
})

test('LC-67 a body nobody reads, or stops reading, lets go of its connection', async () => {
  for (const readFirst of [false, true]) {
    const connection = new PassThrough()
    connection.write(content)
    const body = verified(connection, { sizeBytes: 1000, what })
    if (readFirst) for await (const piece of body) if ((piece as Buffer).length > 0) break
    body.destroy()
    await finished(connection).catch(() => undefined)
    expect(connection.destroyed).toBe(true)
  }
})

test('LC-68 a source is closed when its upload ends early, even one that never gives anything', async () => {
  const source = new PassThrough()
  const sent = openForSending({ sizeBytes: 5, open: () => source }, what)
  const reading = buffer(sent.body as Readable)
  sent.close()
  await reading.catch(() => undefined)
  await finished(source).catch(() => undefined)
  expect(source.destroyed).toBe(true)
  // It was cut from outside: that is no fault of the source.
  expect(sent.failure()).toBeUndefined()
})

test.each([
  ['fails', Readable.from(fail(), { objectMode: false }), 'lakefs/body-unreadable'],
  ['is shorter than announced', Readable.from([content], { objectMode: false }), 'lakefs/body-length'],
])('LC-69 a source that %s is named as the cause', async (_, source, code) => {
  const sent = openForSending({ sizeBytes: 21, open: () => source }, what)
  await expect(buffer(sent.body as Readable)).rejects.toMatchObject({ kind: 'invalid', code })
  expect(sent.failure()).toMatchObject({ code })
})

function* fail(): Generator<Buffer> {
  yield content
  throw new Error('disk gone')
}
