// Goal: an expression means what its tree means, whatever it is made of, and no text whatever gets anything but an answer or
// our error. Method: random trees are printed, parsed and evaluated beside an evaluator that is too simple to be wrong; random
// texts, half of them made of our own tokens, are parsed and evaluated in random scopes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPeragoError } from '../../base/errors.ts'
import { evaluateExpression, type Verdict } from './evaluate-expression.ts'
import { parseExpression } from './parse-expression.ts'
import { printExpression } from './print-expression.ts'
import { referencesOf } from './references.ts'
import { COMPARISON_OPERATORS, type Condition, type Value } from './syntax.ts'

interface World {
  readonly events: readonly string[]
  readonly variables: Readonly<Record<string, unknown>>
}

const EVENTS = ['a.done', 'b.done', 'b.task.done', 'external.x-1.y', '__proto__.constructor']
const VARIABLES = ['a.x', 'a.y', 'pipeline.input.z', '1a.-b', 'true.false']
const at = 0

const scalar = fc.oneof(
  fc.constantFrom<string | number | boolean | null>(
    0,
    1,
    -1.5,
    1e21,
    '',
    'x',
    '"',
    "'\\\n",
    true,
    false,
    null,
  ),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
)
const json = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('k', '__proto__', ''), scalar),
)
const world: fc.Arbitrary<World> = fc.record({
  events: fc.subarray(EVENTS),
  variables: fc.dictionary(fc.constantFrom(...VARIABLES), json),
})

const variable = fc
  .record({
    name: fc.constantFrom(...VARIABLES),
    path: fc.array(fc.oneof(fc.constantFrom('k', 'length', '__proto__'), fc.nat(3)), { maxLength: 2 }),
  })
  .map(({ name, path }) => ({ kind: 'variable' as const, name, path, at }))
const literal = scalar.map((value) => ({ kind: 'literal' as const, value, at }))
const value: fc.Arbitrary<Value> = fc.oneof(variable, literal)

const comparison = fc
  .record({ operator: fc.constantFrom(...COMPARISON_OPERATORS), left: value, right: value })
  .filter(({ operator, left, right }) => isSensible(operator, left, right))
  .map((parts): Condition => ({ kind: 'compare', ...parts, at }))

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(...EVENTS).map((type): Condition => ({ kind: 'event', type, at })),
    comparison,
    fc
      .boolean()
      .map((truth): Condition => ({ kind: 'flag', value: { kind: 'literal', value: truth, at }, at })),
    variable.map((flag): Condition => ({ kind: 'flag', value: flag, at })),
    variable.map((asked): Condition => ({ kind: 'exists', variable: asked, at })),
    tie('condition').map((of): Condition => ({ kind: 'not', of, at })),
    fc
      .tuple(
        fc.constantFrom('all' as const, 'any' as const),
        fc.array(tie('condition'), { minLength: 2, maxLength: 4 }),
      )
      .map(([kind, of]): Condition => ({ kind, of, at })),
  ),
}))

/** What the parser refuses by itself is no tree that a text could have. */
function isSensible(operator: string, left: Value, right: Value): boolean {
  if (operator === '==' || operator === '!=') return true
  const kinds = [left, right].flatMap((side) => (side.kind === 'literal' ? [typeof side.value] : []))
  return kinds.every((kind) => kind === 'number' || kind === 'string') && new Set(kinds).size < 2
}

// ── the evaluator that is too simple to be wrong: false is 0, true is 1, open lies between, and a fault is a fault

type Plain = 0 | 0.5 | 1 | 'fault'

function naive(condition: Condition, world: World): Plain {
  switch (condition.kind) {
    case 'event':
      return world.events.includes(condition.type) ? 1 : 0
    case 'exists':
      return naiveValue(condition.variable, world) === undefined ? 0 : 1
    case 'flag': {
      const found = naiveValue(condition.value, world)
      return found === undefined ? 0.5 : found === true ? 1 : found === false ? 0 : 'fault'
    }
    case 'compare': {
      const [left, right] = [naiveValue(condition.left, world), naiveValue(condition.right, world)]
      if (left === undefined || right === undefined) return 0.5
      const isSame = canonical(left) === canonical(right)
      if (condition.operator === '==') return isSame ? 1 : 0
      if (condition.operator === '!=') return isSame ? 0 : 1
      if (!['number', 'string'].includes(typeof left) || typeof left !== typeof right) return 'fault'
      const isLess = (left as number) < (right as number)
      const isMore = (left as number) > (right as number)
      const holds = { '<': isLess, '>': isMore, '<=': !isMore, '>=': !isLess }[condition.operator]
      return holds ? 1 : 0
    }
    case 'not': {
      const denied = naive(condition.of, world)
      return denied === 'fault' ? denied : ((1 - denied) as Plain)
    }
    default: {
      const parts = condition.of.map((part) => naive(part, world))
      const [worst, best] = condition.kind === 'all' ? [1, 0] : [0, 1]
      const settled = parts.find((part) => part === 'fault' || part === best)
      return (settled ?? (parts.includes(0.5) ? 0.5 : worst)) as Plain
    }
  }
}

function naiveValue(value: Value, { variables }: World): unknown {
  if (value.kind === 'literal') return value.value
  let found = Object.hasOwn(variables, value.name) ? variables[value.name] : undefined
  for (const step of value.path) {
    const isList = Array.isArray(found)
    const isFitting = isList
      ? typeof step === 'number'
      : typeof step === 'string' && typeof found === 'object' && found !== null
    const members = new Map(isFitting ? Object.entries(found as object) : [])
    found = members.get(String(step))
  }
  return found
}

/** One text for each JSON value: braces and brackets keep `{}` and `[]` apart. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
  return `{${members.sort().join()}}`
}

function evaluate(text: string, { events, variables }: World): Plain {
  try {
    const verdict: Verdict = evaluateExpression(parseExpression(text), {
      has: (type) => events.includes(type),
      read: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
    })
    return verdict === undefined ? 0.5 : verdict ? 1 : 0
  } catch (error) {
    if (isPeragoError(error) && error.code === 'core/bad-comparison') return 'fault'
    throw error
  }
}

const fits = (condition: Condition): boolean => printExpression({ condition }).length <= 4_000

describe('random expressions', () => {
  test('XP-08 every expression is the same after it was printed and parsed', () => {
    fc.assert(
      fc.property(condition.filter(fits), (tree) => {
        const text = printExpression({ condition: tree })
        expect(withoutPlaces(parseExpression(text).condition)).toEqual(withoutPlaces(tree))
      }),
      { numRuns: 2_000 },
    )
  })

  test('XP-09 every expression says in every scope what the plain evaluator says', () => {
    const seen = new Map<Plain, number>()
    fc.assert(
      fc.property(condition.filter(fits), world, (tree, where) => {
        const expected = naive(tree, where)
        seen.set(expected, (seen.get(expected) ?? 0) + 1)
        expect(evaluate(printExpression({ condition: tree }), where)).toBe(expected)
      }),
      { numRuns: 3_000 },
    )
    // Each outcome was met, or the claim above would be an empty one.
    expect([...seen.keys()].map(String).sort()).toEqual(['0', '0.5', '1', 'fault'])
  })

  test('XP-07 what an expression does not refer to never changes its verdict', () => {
    fc.assert(
      fc.property(condition.filter(fits), world, world, (tree, one, other) => {
        const { events, variables } = referencesOf({ condition: tree })
        const mixed: World = {
          events: EVENTS.filter((type) => (events.includes(type) ? one : other).events.includes(type)),
          variables: Object.fromEntries([
            ...Object.entries(other.variables).filter(([name]) => !variables.includes(name)),
            ...Object.entries(one.variables).filter(([name]) => variables.includes(name)),
          ]),
        }
        expect(naive(tree, mixed)).toBe(naive(tree, one))
        expect(evaluate(printExpression({ condition: tree }), mixed)).toBe(naive(tree, one))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('random texts', () => {
  const pieces = fc.constantFrom(
    ...[
      'event:',
      'a.done',
      'a.x',
      'exists',
      '(',
      ')',
      '[',
      ']',
      '&&',
      '||',
      '!',
      '==',
      '<',
      '>=',
      '"k"',
      "'",
      '\\',
      '1',
    ],
    ...[
      '-',
      '.',
      '*',
      'true',
      'null',
      ' ',
      '\n',
      '\u0000',
      '\ud800',
      '💥',
      '__proto__',
      'constructor',
      '{{',
      '}}',
      ',',
      ';',
    ],
  )
  const text = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((list) => list.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(pieces, { maxLength: 30 }).map((list) => list.join(' ')),
  )

  test('E-62 XP-10 any text gives an expression or an error with its position in the text', () => {
    let read = 0
    fc.assert(
      fc.property(text, world, (written, where) => {
        try {
          expect([0, 0.5, 1, 'fault']).toContain(evaluate(written, where))
          const { condition: tree } = parseExpression(written)
          expect(withoutPlaces(parseExpression(printExpression({ condition: tree })).condition)).toEqual(
            withoutPlaces(tree),
          )
          read++
        } catch (error) {
          if (!isPeragoError(error) || error.code !== 'core/bad-expression') throw error
          const position = Number(error.details['position'])
          expect(position).toBeGreaterThanOrEqual(0)
          expect(position).toBeLessThanOrEqual(written.length)
          expect(error.message).not.toMatch(/\p{Cc}/u)
          expect(String(error.details['excerpt']).split('\n')).toHaveLength(2)
        }
      }),
      { numRuns: 5_000 },
    )
    expect(read).toBeGreaterThan(10)
  })
})

function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, inner: unknown) => (key === 'at' ? undefined : inner)))
}
