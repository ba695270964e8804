/**
 * The form of a document as data, so that the reader and the published JSON Schema cannot differ: `checkShape` reads it,
 * `json-schema.ts` prints it.
 */

import { suggest } from '../../base/suggestion.ts'
import { isObject, quote } from './values.ts'

/** Where a value is in a document: keys and positions, from the top. */
export type Path = readonly (string | number)[]

/** `units.clean.after[0]` */
export function printPath(path: Path): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

export interface ShapeProblem {
  readonly path: Path
  readonly message: string
  /** The problem is the key itself, not its value. */
  readonly isAboutKey?: boolean
}

export type Shape =
  | TextShape
  | { readonly is: 'number'; readonly min: number; readonly max: number; readonly whole?: boolean }
  | { readonly is: 'boolean' }
  | { readonly is: 'one-of'; readonly values: readonly (string | boolean)[] }
  /** Any JSON value. */
  | { readonly is: 'json' }
  /** An object with any values. */
  | { readonly is: 'object' }
  | { readonly is: 'list'; readonly of: Shape; readonly min?: number }
  | MapShape
  | FieldsShape
  | ChoiceShape
  | { readonly is: 'either'; readonly of: readonly Shape[]; readonly wanted: string }
  /** Another shape of the same document, by its name; for what contains itself. */
  | { readonly is: 'named'; readonly name: string }

export interface TextShape {
  readonly is: 'text'
  readonly pattern: RegExp
  /** What the pattern asks for, after "must be". */
  readonly wanted: string
}

export interface MapShape {
  readonly is: 'map'
  readonly of: Shape
  readonly keys: { readonly pattern: RegExp; readonly check: (key: string) => string | undefined }
  readonly min?: number
}

export interface Field {
  readonly about: string
  readonly shape: Shape
  readonly required?: boolean
}

export interface FieldsShape {
  readonly is: 'fields'
  readonly fields: Readonly<Record<string, Field>>
}

/** An object in which exactly one of some keys is present; the other fields depend on it. */
export interface ChoiceShape {
  readonly is: 'choice'
  readonly what: string
  readonly options: Readonly<Record<string, FieldsShape>>
}

export type NamedShapes = Readonly<Record<string, Shape>>

/** Everything in which a value differs from a shape. */
export function checkShape(value: unknown, shape: Shape, named: NamedShapes): readonly ShapeProblem[] {
  return new Check(named).visit(value, shape, [])
}

class Check {
  private readonly named: NamedShapes

  constructor(named: NamedShapes) {
    this.named = named
  }

  visit(value: unknown, shape: Shape, path: Path): readonly ShapeProblem[] {
    const must = (wanted: string, isRight: boolean): readonly ShapeProblem[] =>
      isRight ? [] : [{ path, message: `must be ${wanted}${given(value)}` }]
    switch (shape.is) {
      case 'text':
        return must(shape.wanted, typeof value === 'string' && shape.pattern.test(value))
      case 'number':
        return must(describeNumber(shape), isNumberIn(value, shape))
      case 'boolean':
        return must('true or false', typeof value === 'boolean')
      case 'one-of':
        return this.visitOneOf(value, shape.values, path)
      case 'json':
        return must('a value', value !== undefined)
      case 'object':
        return must('an object', isObject(value))
      case 'named':
        return this.visit(value, this.shapeNamed(shape.name), path)
      case 'either':
        return must(
          shape.wanted,
          shape.of.some((one) => this.visit(value, one, path).length === 0),
        )
      default:
        return this.visitParts(value, shape, path)
    }
  }

  private visitParts(
    value: unknown,
    shape: MapShape | FieldsShape | ChoiceShape | Extract<Shape, { is: 'list' }>,
    path: Path,
  ): readonly ShapeProblem[] {
    if (shape.is === 'list') return this.visitList(value, shape, path)
    if (!isObject(value)) return [{ path, message: `must be an object${given(value)}` }]
    switch (shape.is) {
      case 'map':
        return this.visitMap(value, shape, path)
      case 'fields':
        return this.visitFields(value, shape, path)
      case 'choice':
        return this.visitChoice(value, shape, path)
    }
  }

  private visitOneOf(
    value: unknown,
    values: readonly (string | boolean)[],
    path: Path,
  ): readonly ShapeProblem[] {
    if (values.some((one) => one === value)) return []
    const texts = values.map(String)
    const meant = typeof value === 'string' ? didYouMean(value, texts) : ''
    return [{ path, message: `must be ${listWords(texts)}${meant === '' ? given(value) : meant}` }]
  }

  private visitList(
    value: unknown,
    { of, min = 0 }: Extract<Shape, { is: 'list' }>,
    path: Path,
  ): readonly ShapeProblem[] {
    if (!Array.isArray(value)) return [{ path, message: `must be a list${given(value)}` }]
    if (value.length < min) return [{ path, message: 'must have at least one item' }]
    return value.flatMap((item: unknown, index) => this.visit(item, of, [...path, index]))
  }

  private visitMap(
    value: Readonly<Record<string, unknown>>,
    { of, keys, min = 0 }: MapShape,
    path: Path,
  ): readonly ShapeProblem[] {
    const entries = Object.entries(value)
    if (entries.length < min) return [{ path, message: 'must have at least one entry' }]
    return entries.flatMap(([key, item]) => {
      const problem = keys.check(key)
      return [
        ...(problem === undefined
          ? []
          : [{ path: [...path, key], message: problem, isAboutKey: true as const }]),
        ...this.visit(item, of, [...path, key]),
      ]
    })
  }

  private visitFields(
    value: Readonly<Record<string, unknown>>,
    { fields }: FieldsShape,
    path: Path,
  ): readonly ShapeProblem[] {
    const missing = Object.entries(fields)
      .filter(([key, { required }]) => required === true && !Object.hasOwn(value, key))
      .map(([key]) => ({ path, message: `"${key}" is missing` }))
    const present = Object.entries(value).flatMap(([key, item]) => {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      return field === undefined
        ? [unknownKey(key, Object.keys(fields), path)]
        : this.visit(item, field.shape, [...path, key])
    })
    return [...missing, ...present]
  }

  private visitChoice(
    value: Readonly<Record<string, unknown>>,
    { what, options }: ChoiceShape,
    path: Path,
  ): readonly ShapeProblem[] {
    const kinds = Object.keys(options)
    const [chosen, second] = Object.keys(value).filter((key) => kinds.includes(key))
    if (chosen === undefined) {
      // A wrong key is often the misspelled one.
      const meant = Object.keys(value)
        .map((key) => ({ key, near: suggest(key, kinds) }))
        .find(({ near }) => near !== undefined)
      return meant?.near === undefined
        ? [{ path, message: `${what} has one of these keys: ${kinds.join(', ')}` }]
        : [unknownKey(meant.key, kinds, path)]
    }
    const fields = options[chosen]
    if (second !== undefined || fields === undefined)
      return [
        {
          path: [...path, second ?? chosen],
          message: `${what} is of one kind only; it has "${chosen}" already`,
          isAboutKey: true,
        },
      ]
    return this.visitFields(value, fields, path)
  }

  private shapeNamed(name: string): Shape {
    const shape = this.named[name]
    if (shape === undefined) throw new Error(`no shape is named ${name}`)
    return shape
  }
}

/** `; did you mean "after"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const meant = suggest(word, candidates)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

function unknownKey(key: string, known: readonly string[], path: Path): ShapeProblem {
  const meant = didYouMean(key, known)
  const list = meant === '' ? `; the keys here are ${known.join(', ')}` : meant
  return { path: [...path, key], message: `there is no key ${quote(key)} here${list}`, isAboutKey: true }
}

type NumberShape = Extract<Shape, { is: 'number' }>

function isNumberIn(value: unknown, { min, max, whole }: NumberShape): boolean {
  return (
    typeof value === 'number' && value >= min && value <= max && (whole !== true || Number.isInteger(value))
  )
}

function describeNumber({ min, max, whole }: NumberShape): string {
  return `a ${whole === true ? 'whole ' : ''}number from ${min} to ${max}`
}

function listWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
}

function given(value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return ', and is empty'
  return typeof value === 'object'
    ? `, and is ${Array.isArray(value) ? 'a list' : 'an object'}`
    : `, and is ${quote(value)}`
}
