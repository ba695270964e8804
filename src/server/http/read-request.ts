/**
 * Reads the fields of a body and the parameters of a query with a schema. What is refused is answered in one way: an error that
 * names each refused field by its path in `details.problems`. A field that is not known is refused, because a misspelt one
 * would have no effect without anybody noticing.
 */

import { z } from 'zod'
import { InvalidError, type ErrorCode } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { suggest } from '../../base/suggestion.ts'

interface Problem {
  readonly path: string
  readonly problem: string
  readonly code: ErrorCode
}

type Shape = Readonly<Record<string, z.ZodType>>

/** Throws `api/wrong-type`, `api/missing-field` or `api/unknown-field`. */
export function readFields<S extends Shape, Fields extends z.core.$ZodObjectConfig>(
  what: string,
  schema: z.ZodObject<S, Fields>,
  body: unknown,
): z.output<z.ZodObject<S, Fields>> {
  const read = schema.safeParse(body, { reportInput: true })
  if (read.success) return read.data
  const problems = problemsOf(read.error, schema.shape)
  throw refuse(what, problems[0]?.code ?? 'api/wrong-type', problems)
}

/** Throws `api/bad-parameter`. */
export function readQuery<S extends Shape>(url: string, shape: S): z.output<z.ZodObject<S, z.core.$strict>> {
  const { searchParams } = new URL(url)
  const given = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]))
  const read = z.strictObject(shape).safeParse(given)
  if (read.success) return read.data
  throw refuse('the query', 'api/bad-parameter', problemsOf(read.error, shape))
}

/** A parameter that may be given once. */
export function once<T extends z.ZodType<unknown, string>>(schema: T) {
  return z
    .array(z.string())
    .max(1, 'must be given only once')
    .transform(([value = '']) => value)
    .pipe(schema)
    .optional()
}

/** A parameter that may be given several times. */
export function several(countMax: number) {
  return z.array(z.string()).max(countMax, `must be given at most ${countMax} times`).optional()
}

export function wholeNumber({ least, most }: { readonly least: number; readonly most: number }) {
  const isInRange = (text: string): boolean =>
    /^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most
  return z.string().refine(isInRange, `must be a whole number from ${least} to ${most}`).transform(Number)
}

const REF_NAME = /^[A-Za-z0-9_.-][A-Za-z0-9_./-]*$/

export function refName() {
  return z.string().max(256).regex(REF_NAME, 'must be the name of a branch, a tag or a commit')
}

/** Text of a length. */
export function textOf({ least, most }: { readonly least: number; readonly most: number }) {
  return z
    .string()
    .refine(({ length }) => length >= least && length <= most, `must have ${least} to ${most} characters`)
}

/** Returned as it is: a copy would lose a field that is called `__proto__`. */
export function jsonObject() {
  const isObject = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  return z.custom<JsonObject>(isObject, 'must be an object')
}

/** Throws `api/bad-parameter`. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[!-~]{1,256}$/.test(header)) return header
  throw badHeader('Idempotency-Key', 'must have 1 to 256 visible ASCII characters')
}

/** The sequence number of the last event that a follower received. Throws `api/bad-parameter`. */
export function readLastEventId(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw badHeader('Last-Event-ID', 'must be a sequence number')
}

function badHeader(path: string, problem: string): InvalidError {
  return refuse('the headers', 'api/bad-parameter', [{ path, problem }])
}

function refuse(what: string, code: ErrorCode, problems: readonly Omit<Problem, 'code'>[]): InvalidError {
  const named = problems.map(({ path, problem }) => ({ path, problem }))
  const shown = named.map(({ path, problem }) => `${JSON.stringify(path)} ${problem}`).join('; ')
  return new InvalidError(code, `read ${what}: ${shown}`, {
    details: { problems: named },
    next: 'Correct the request; see /openapi.yaml.',
  })
}

function problemsOf({ issues }: z.ZodError, shape: Shape): readonly Problem[] {
  return issues.flatMap((issue): readonly Problem[] => {
    const path = z.core.toDotPath(issue.path)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownField(path, key, fieldsAt(shape, issue.path)))
    }
    if (issue.code !== 'invalid_type') return [{ path, problem: issue.message, code: 'api/wrong-type' }]
    // The body itself has the path of the whole.
    if (issue.path.length > 0 && issue.input === undefined) {
      return [{ path, problem: 'is missing', code: 'api/missing-field' }]
    }
    return [{ path: path === '' ? 'body' : path, problem: mustBe(issue.expected), code: 'api/wrong-type' }]
  })
}

function unknownField(parent: string, key: string, known: readonly string[]): Problem {
  const near = suggest(key, known)
  const hint = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`
  const name = key.slice(0, 80)
  return {
    path: parent === '' ? name : `${parent}.${name}`,
    problem: `is not known${hint}`,
    code: 'api/unknown-field',
  }
}

function fieldsAt(shape: Shape, path: readonly PropertyKey[]): readonly string[] {
  const [first, ...rest] = path
  if (first === undefined) return Object.keys(shape)
  const field = shape[String(first)]
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  return inner instanceof z.ZodObject ? fieldsAt(inner.shape, rest) : []
}

function mustBe(expected: string): string {
  return `must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`
}
