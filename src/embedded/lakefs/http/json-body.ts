/** JSON bodies: bounded, then checked whole against a schema. Nothing of a body is used before all of it was checked. */

import type { IncomingMessage } from 'node:http'

import { HttpProblem } from './answer.ts'

/** Checks one value and returns it typed; `at` is its place in the body, for the error. */
export type Reader<Value> = (value: unknown, at: string) => Value

type Shape = Readonly<Record<string, Reader<unknown>>>

export const text: Reader<string> = (value, at) => {
  if (typeof value !== 'string') throw wrongType(value, at, 'a string')
  if (LONE_SURROGATE.test(value)) throw badBody(at, 'value must be well-formed Unicode')
  return value
}

export const flag: Reader<boolean> = (value, at) => {
  if (typeof value !== 'boolean') throw wrongType(value, at, 'a boolean')
  return value
}

export const integer: Reader<number> = (value, at) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongType(value, at, 'an integer')
  return value
}

/** A map from string to string, such as user metadata. */
export const metadata: Reader<Record<string, string>> = (value, at) =>
  Object.fromEntries([...propertiesOf(value, at)].map(([key, field]) => [key, text(field, `${at}/${key}`)]))

export function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (value, at) => (value === undefined ? undefined : read(value, at))
}

export function listOf<Value>(read: Reader<Value>): Reader<readonly Value[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw wrongType(value, at, 'an array')
    return value.map((item, index) => read(item, `${at}/${String(index)}`))
  }
}

/** Properties that the shape does not name are ignored, as lakeFS ignores them. */
export function objectOf<Fields extends Shape>(
  shape: Fields,
): Reader<{ readonly [Name in keyof Fields]: ReturnType<Fields[Name]> }> {
  return (value, at) => {
    const properties = propertiesOf(value, at)
    const fields = Object.entries(shape).map(([name, read]) => [
      name,
      read(properties.get(name), `${at}/${name}`),
    ])
    return Object.fromEntries(fields) as { readonly [Name in keyof Fields]: ReturnType<Fields[Name]> }
  }
}

/** Reads a bounded JSON body. `undefined` when there is none and it is optional. */
export async function readJson(
  request: IncomingMessage,
  options: { readonly maxBytes: number; readonly optional: boolean },
): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > options.maxBytes) throw tooLarge(options.maxBytes)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > options.maxBytes) throw tooLarge(options.maxBytes)
    chunks.push(chunk)
  }
  if (bytes === 0 && options.optional) return undefined
  if (bytes === 0) throw badBody('', 'value is required but missing')
  const contentType = request.headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new HttpProblem(
      400,
      `request body has an error: header Content-Type has unexpected value ${JSON.stringify(contentType)}`,
    )
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) as unknown
  } catch {
    throw new HttpProblem(400, 'request body has an error: failed to decode request body')
  }
}

// Encoded as UTF-8 a lone surrogate becomes U+FFFD, so two different names would become one.
const LONE_SURROGATE = /\p{Surrogate}/u

/** Own properties only: a key such as `__proto__` or `constructor` is a key like any other. */
function propertiesOf(value: unknown, at: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongType(value, at, 'an object')
  }
  return new Map(Object.entries(value))
}

function wrongType(value: unknown, at: string, expected: string): HttpProblem {
  if (value === undefined) return badBody(at, `property "${at.slice(at.lastIndexOf('/') + 1)}" is missing`)
  return badBody(at, value === null ? 'value is not nullable' : `value must be ${expected}`)
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, `request body has an error: it is larger than ${String(maxBytes)} bytes`, {
    Connection: 'close',
  })
}

/** An error as lakeFS words it. */
export function badBody(at: string, problem: string): HttpProblem {
  return new HttpProblem(
    400,
    `request body has an error: doesn't match schema${at === '' ? '' : `: Error at "${at}"`}: ${problem}`,
  )
}
