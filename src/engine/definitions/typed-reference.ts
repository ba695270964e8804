/**
 * Values of a pipeline that exist only when it runs. In code each is a reference with the type that the value will have; in
 * the definition it becomes an expression: `rows.result.good` is written as `${rows.output.result.good}`.
 */

import { InvalidError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'

declare const VALUE: unique symbol
declare const UNTYPED: unique symbol

/** A value of this type, when the pipeline runs. Its members are references too. */
export type Reference<Value> = { readonly [VALUE]: Value } & Members<Value>

/** A value of which nothing is known, such as an output of a task of another worker. Fits everywhere. */
export interface UntypedReference {
  readonly [UNTYPED]: true
  readonly [member: string]: UntypedReference
}

type Members<Value> = Value extends readonly (infer Item)[]
  ? { readonly [index: number]: Reference<Item> }
  : Value extends object
    ? { readonly [Name in keyof Value & string]-?: Reference<Value[Name]> }
    : unknown

/** A value of this type, or references in the place of it or of its parts. */
export type Given<Value> = Reference<Value> | UntypedReference | GivenParts<Value>

type GivenParts<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Given<Value[Name]> }
      : Value

/** The type that a value with references in it has when the pipeline runs. */
export type Resolved<Value> =
  Value extends Reference<infer Inner>
    ? Inner
    : Value extends UntypedReference
      ? Json
      : Value extends object
        ? { readonly [Name in keyof Value]: Resolved<Value[Name]> }
        : Value

type Steps = readonly (string | number)[]

const STEPS = Symbol.for('perago.reference')

/** A reference that begins with these steps: the name of a unit, or `workflow`. */
export function makeReference<Value>(steps: Steps): Reference<Value> {
  const proxy: unknown = new Proxy(Object.freeze({}), {
    get: (_target, name) => {
      if (name === STEPS) return steps
      if (name === Symbol.toPrimitive) return refuseText(steps)
      if (typeof name === 'symbol') return undefined
      return makeReference([...steps, /^\d+$/.test(name) ? Number(name) : name])
    },
  })
  // The compiler cannot see that every member of a proxy is there.
  return proxy as Reference<Value>
}

/** The steps of a reference; `undefined` for any other value. */
function stepsOf(value: unknown): Steps | undefined {
  return typeof value === 'object' && value !== null
    ? (value as { readonly [STEPS]?: Steps })[STEPS]
    : undefined
}

/** The value as it is written in a definition, with expressions for references. */
export function writeReferences(value: unknown): Json {
  const steps = stepsOf(value)
  if (steps !== undefined) return `\${${writePath(steps)}}`
  if (value instanceof WrittenText) return value.written
  if (Array.isArray(value)) return value.map(writeReferences)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [name, writeReferences(member)]),
    )
  return value as Json
}

/** The same where only text is possible. */
export function writeAsText(value: unknown): string {
  const written = writeReferences(value)
  return typeof written === 'string' ? written : JSON.stringify(written)
}

/**
 * Text with references in it.
 *
 * ```ts
 * text`${count.result.rows} rows of ${pipeline.input.day}`
 * ```
 */
export function text(parts: TemplateStringsArray, ...values: readonly unknown[]): Reference<string> {
  const written = parts.map((part, index) => {
    // What looks like an expression in the text itself is text.
    const plain = escapeText(part)
    return index < values.length ? `${plain}${writeInText(values[index])}` : plain
  })
  // It is written like a reference, and passes for one.
  return new WrittenText(written.join('')) as unknown as Reference<string>
}

/**
 * A condition for `onlyIf`, `startWhen` and loops: outputs, inputs and variables by reference, other values as literals.
 *
 * ```ts
 * condition`${count.result.rows} > ${100} && event:external.approved`
 * ```
 */
export function condition(parts: TemplateStringsArray, ...values: readonly unknown[]): string {
  return parts
    .map((part, index) => (index < values.length ? `${part}${writeInCondition(values[index])}` : part))
    .join('')
}

/** A text that is written as it is. Passes for a reference, whose steps it has not. */
class WrittenText {
  readonly written: string

  constructor(written: string) {
    this.written = written
  }
}

function writeInText(value: unknown): string {
  const steps = stepsOf(value)
  if (steps !== undefined) return `\${${writePath(steps)}}`
  return typeof value === 'string' ? escapeText(value) : JSON.stringify(value)
}

/** `$${…}` stands for `${…}` as text. */
function escapeText(plain: string): string {
  return plain.replaceAll('${', () => '$${')
}

function writePath([root = '', ...steps]: Steps): string {
  return `${root}${steps.map((step) => writeStep(step)).join('')}`
}

function writeStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  if (/^[A-Za-z_][\w-]*$/.test(step)) return `.${step}`
  if (!/['{}\]]/.test(step)) return `['${step}']`
  throw new InvalidError(
    'engine/bad-reference',
    `refer to the member ${JSON.stringify(step)}: no expression can`,
    {
      next: 'Pass the whole value, or give the member another name.',
    },
  )
}

/** The variable of the execution that has the value. */
function writeInCondition(value: unknown): string {
  const steps = stepsOf(value)
  if (steps === undefined) return JSON.stringify(value)
  const [first, second, name, ...rest] = steps
  const prefix =
    first === 'workflow'
      ? { input: 'pipeline.input', variables: 'shared' }[String(second)]
      : second === 'output'
        ? String(first)
        : undefined
  if (prefix === undefined || name === undefined) {
    throw new InvalidError(
      'engine/bad-reference',
      `use \${${writePath(steps)}} in a condition: it is no input, output or variable`,
      { next: 'Refer to a member of an output, an input, or a variable that was set.' },
    )
  }
  return `${prefix}.${String(name)}${rest.map((step) => `[${JSON.stringify(step)}]`).join('')}`
}

function refuseText(steps: Steps): () => never {
  return () => {
    throw new InvalidError(
      'engine/bad-reference',
      `write \${${writePath(steps)}} into text: its value is known only when the pipeline runs`,
      { next: 'Use text`…` or condition`…` of perago/engine for text with references.' },
    )
  }
}
