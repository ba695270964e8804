/** JSON bodies: bounded, then read field by field. Nothing of a body is used before all of it was checked. */

import type { IncomingMessage } from 'node:http'

import { HttpProblem } from './answer.ts'

/** One JSON object from outside. Every reader names the field in its complaint. */
export class Fields {
  readonly #values: ReadonlyMap<string, unknown>
  readonly #where: string

  constructor(value: unknown, where = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw badBody(where, 'value must be an object')
    }
    // Own properties only: a key such as `__proto__` or `constructor` is a key like any other.
    this.#values = new Map(Object.entries(value))
    this.#where = where
  }

  text(name: string): string | undefined {
    const value = this.#present(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') throw badBody(this.#at(name), 'value must be a string')
    if (LONE_SURROGATE.test(value)) throw badBody(this.#at(name), 'value must be well-formed Unicode')
    return value
  }

  requiredText(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw badBody(this.#at(name), `property "${name}" is missing`)
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.#present(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw badBody(this.#at(name), 'value must be a boolean')
  }

  integer(name: string): number | undefined {
    const value = this.#present(name)
    if (value === undefined) return undefined
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      throw badBody(this.#at(name), 'value must be an integer')
    }
    return value
  }

  requiredInteger(name: string): number {
    const value = this.integer(name)
    if (value === undefined) throw badBody(this.#at(name), `property "${name}" is missing`)
    return value
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((value, index) => {
      if (typeof value === 'string' && !LONE_SURROGATE.test(value)) return value
      throw badBody(`${this.#at(name)}/${String(index)}`, 'value must be a string')
    })
  }

  objects(name: string): readonly Fields[] {
    return this.#list(name).map((value, index) => new Fields(value, `${this.#at(name)}/${String(index)}`))
  }

  object(name: string): Fields | undefined {
    const value = this.#present(name)
    return value === undefined ? undefined : new Fields(value, this.#at(name))
  }

  /** A map from text to text, such as user metadata. */
  metadata(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.#present(name)
    if (value === undefined) return undefined
    const inner = new Fields(value, this.#at(name))
    return Object.fromEntries([...inner.#values.keys()].map((key) => [key, inner.requiredText(key)]))
  }

  #present(name: string): unknown {
    const value = this.#values.get(name)
    if (value === null) throw badBody(this.#at(name), 'value is not nullable')
    return value
  }

  #list(name: string): readonly unknown[] {
    const value = this.#present(name)
    if (value === undefined) throw badBody(this.#at(name), `property "${name}" is missing`)
    if (!Array.isArray(value)) throw badBody(this.#at(name), 'value must be an array')
    return value as readonly unknown[]
  }

  #at(name: string): string {
    return `${this.#where}/${name}`
  }
}

/** Reads a bounded JSON body. `undefined` when there is none and none is needed. */
export async function readJson(
  request: IncomingMessage,
  options: { readonly maxBytes: number; readonly optional?: boolean },
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
  if (bytes === 0 && options.optional === true) return undefined
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

// Encoded as UTF-8 a lone surrogate becomes U+FFFD, so that two different names became one.
const LONE_SURROGATE = /\p{Surrogate}/u

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, `request body has an error: it is larger than ${String(maxBytes)} bytes`, {
    Connection: 'close',
  })
}

function badBody(where: string, problem: string): HttpProblem {
  return new HttpProblem(
    400,
    `request body has an error: doesn't match schema${where === '' ? '' : `: Error at "${where}"`}: ${problem}`,
  )
}
