/** JSON bodies: bounded, then checked whole against a schema. Nothing of a body is used before all of it was checked. */

import type { IncomingMessage } from 'node:http'

import { ClientGone, HttpProblem } from './answer.ts'

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
  options: { readonly maxBytes: number; readonly maxMs: number; readonly optional: boolean },
): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > options.maxBytes) throw tooLarge(options.maxBytes)
  const body = await readWhole(request, options)
  if (body.length === 0 && options.optional) return undefined
  if (body.length === 0) throw badBody('', 'value is required but missing')
  const contentType = request.headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new HttpProblem(
      400,
      `request body has an error: header Content-Type has unexpected value ${JSON.stringify(contentType)}`,
    )
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    throw new HttpProblem(400, 'request body has an error: failed to decode request body')
  }
}

/** Leaves the request open when it refuses: the rest is discarded behind the answer. */
function readWhole(
  request: IncomingMessage,
  { maxBytes, maxMs }: { readonly maxBytes: number; readonly maxMs: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Gone already, and nothing will say so again.
    if (request.destroyed && !request.readableEnded) throw new ClientGone()
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (outcome: () => void): void => {
      clearTimeout(late)
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      outcome()
    }
    const refuse = (error: Error): void => settle(() => reject(error))
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > maxBytes) refuse(tooLarge(maxBytes))
      else chunks.push(chunk)
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const onGone = (): void => refuse(new ClientGone())
    const late = setTimeout(() => refuse(tooLate(maxMs)), maxMs)
    // What breaks a request closes it too.
    request.on('error', ignoreError)
    request.on('data', onData).once('end', onEnd).once('close', onGone)
  })
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

function tooLate(maxMs: number): HttpProblem {
  return new HttpProblem(408, `request body has an error: it did not arrive within ${String(maxMs)} ms`, {
    Connection: 'close',
  })
}

function ignoreError(): void {
  // Reported by the end of the request.
}

/** An error as lakeFS words it. */
export function badBody(at: string, problem: string): HttpProblem {
  return new HttpProblem(
    400,
    `request body has an error: doesn't match schema${at === '' ? '' : `: Error at "${at}"`}: ${problem}`,
  )
}
