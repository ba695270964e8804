/** The fields of a request's body. One that is not known is refused: what is spelt wrong would be left out in silence. */

import { InvalidError, type ErrorCode } from '../../base/errors.ts'
import { suggest } from '../../base/suggestion.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Throws `api/wrong-type` for what is no object, and `api/unknown-field`. */
export class BodyReader {
  readonly #what: string
  readonly #fields: Fields

  /** `what` is what is read, for messages. */
  constructor(what: string, body: unknown, known: readonly string[]) {
    this.#what = what
    if (!isObject(body)) throw this.refuse('api/wrong-type', 'it is no object')
    this.#fields = body
    for (const field of Object.keys(body)) {
      if (known.includes(field)) continue
      const near = suggest(field, known)
      const hint = near === undefined ? '' : `; "${near}" may be meant`
      throw this.refuse('api/unknown-field', `there is no field ${JSON.stringify(field.slice(0, 80))}${hint}`)
    }
  }

  has(field: string): boolean {
    return this.#fields[field] !== undefined
  }

  text(field: string): string {
    const value = this.#required(field)
    if (typeof value !== 'string') throw this.refuse('api/wrong-type', `"${field}" is no text`)
    return value
  }

  texts(field: string): readonly string[] {
    const value = this.#required(field)
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
    throw this.refuse('api/wrong-type', `"${field}" is no list of texts`)
  }

  object(field: string): Fields {
    const value = this.#required(field)
    if (!isObject(value)) throw this.refuse('api/wrong-type', `"${field}" is no object`)
    return value
  }

  /** `undefined` where it is not given. */
  number(field: string): number | undefined {
    const value = this.#fields[field]
    if (value === undefined || typeof value === 'number') return value
    throw this.refuse('api/wrong-type', `"${field}" is no number`)
  }

  refuse(code: ErrorCode, problem: string): InvalidError {
    return new InvalidError(code, `read ${this.#what}: ${problem}`, {
      next: 'Correct the request; see /openapi.yaml.',
    })
  }

  #required(field: string): unknown {
    const value = this.#fields[field]
    if (value === undefined) throw this.refuse('api/missing-field', `"${field}" is missing`)
    return value
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
