import { describe, expect, test } from 'vitest'
import { isPeragoError, type PeragoError } from '../../base/errors.ts'
import { EXPRESSION_MAX_CHARS, EXPRESSION_MAX_DEPTH } from '../limits.ts'
import { evaluateExpression, type ExpressionScope } from './evaluate-expression.ts'
import { parseExpression } from './parse-expression.ts'
import { printExpression } from './print-expression.ts'
import { referencesOf } from './references.ts'

/** A scope over lists and objects that writes down what it is asked. */
function scopeOf(events: readonly string[], variables: Readonly<Record<string, unknown>> = {}) {
  const asked: string[] = []
  const scope: ExpressionScope = {
    has: (type) => (asked.push(`has ${type}`), events.includes(type)),
    read: (name) => (
      asked.push(`read ${name}`),
      Object.hasOwn(variables, name) ? variables[name] : undefined
    ),
  }
  return { scope, asked }
}

function evaluate(text: string, events: readonly string[] = [], variables: Record<string, unknown> = {}) {
  return evaluateExpression(parseExpression(text), scopeOf(events, variables).scope)
}

function faultOf(run: () => unknown): PeragoError {
  try {
    run()
  } catch (error) {
    if (isPeragoError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('event references', () => {
  test.each([
    ['event:pipeline.started', 'pipeline.started'],
    ['event:extract_data.completed', 'extract_data.completed'],
    ['event:transform_data.failed', 'transform_data.failed'],
    ['event:external.data_ready', 'external.data_ready'],
  ])('E-29 %s refers to the type %s', (text, type) => {
    expect(parseExpression(text).condition).toEqual({ kind: 'event', type, at: 0 })
  })

  test('E-61 each event that is referred to is asked for once, by its bare type', () => {
    const { scope, asked } = scopeOf(['a.completed', 'b.completed'])
    const expression = parseExpression('event:a.completed && event:b.completed && !!event:a.completed')
    expect(evaluateExpression(expression, scope)).toBe(true)
    expect(asked).toEqual(['has a.completed', 'has b.completed'])
  })

  test('XP-01 an event is true once it has happened and false until then', () => {
    expect(evaluate('event:a.completed')).toBe(false)
    expect(evaluate('event:a.completed', ['a.completed'])).toBe(true)
    expect(evaluate('event:a.complete', ['a.completed'])).toBe(false)
  })
})

describe('operators', () => {
  const events = ['a.done', 'b.done']
  test.each([
    ['event:a.done && event:b.done', true],
    ['event:a.done && event:c.done', false],
    ['event:c.done || event:b.done', true],
    ['event:c.done || event:d.done', false],
    ['!event:c.done', true],
    ['!!event:c.done', false],
    // && binds more closely than ||, and ! more closely than both.
    ['event:a.done || event:b.done && event:c.done', true],
    ['(event:a.done || event:b.done) && event:c.done', false],
    ['!event:c.done && event:a.done', true],
    ['!(event:c.done || event:a.done)', false],
    ['event:a.done&&event:b.done', true],
    ['\n  event:a.done\n  && !event:c.done\n', true],
  ])('E-62 %j is %j', (text, verdict) => {
    expect(evaluate(text, events)).toBe(verdict)
  })
})

describe('comparisons', () => {
  const variables = {
    'a.rows': 1_000_000,
    'a.path': 's3://lake/x',
    'a.ok': true,
    'a.none': null,
    'a.stats': { rows: [3, 4], 'odd name': { deep: -0.5 } },
    'b.stats': { 'odd name': { deep: -0.5 }, rows: [3, 4] },
    'pipeline.input.day': '2025-01-01',
  }
  test.each([
    ['a.rows > 0', true],
    ['a.rows >= 1e6', true],
    ['a.rows < 1000000', false],
    ['0 < a.rows', true],
    ['a.rows <= -5', false],
    ['a.path == "s3://lake/x"', true],
    ["a.path != 's3://lake/x'", false],
    ['pipeline.input.day >= "2025-01-01"', true],
    ['a.ok', true],
    ['!a.ok', false],
    ['a.ok == true', true],
    ['a.none == null', true],
    // Nothing is ever turned into another kind of value.
    ['a.rows == "1000000"', false],
    ['a.none == false', false],
    ['a.ok == 1', false],
    ['a.stats["rows"][1] == 4', true],
    ['a.stats["odd name"]["deep"] < 0', true],
    ['a.stats == b.stats', true],
    ['a.stats["rows"] == b.stats', false],
    ['exists(a.rows)', true],
    ['exists(a.none)', true],
    ['exists(a.nothing)', false],
    ['exists(a.stats["rows"][2])', false],
    ['true', true],
    ['false || "a" == "\\u0061"', true],
  ])('XP-02 %s is %j', (text, verdict) => {
    expect(evaluate(text, [], variables)).toBe(verdict)
  })

  test.each([
    ['a.nothing == 1'],
    ['a.nothing != 1'],
    ['!(a.nothing == 1)'],
    ['a.nothing'],
    ['a.nothing == null'],
    ['a.nothing < 3 && a.ok'],
    ['a.nothing < 3 || !a.ok'],
    ['a.stats["rows"][7] == 1'],
  ])('XP-03 %s is open while its variable is not there, and so starts nothing', (text) => {
    expect(evaluate(text, [], variables)).toBeUndefined()
  })

  test.each([
    ['a.nothing < 3 && !a.ok', false],
    ['!a.ok && a.nothing < 3', false],
    ['a.nothing < 3 || a.ok', true],
    ['a.ok || a.nothing < 3', true],
    ['!(a.nothing < 3 && !a.ok)', true],
  ])('XP-03 %s is decided by the side that is known', (text, verdict) => {
    expect(evaluate(text, [], variables)).toBe(verdict)
  })

  test.each([
    ['a.rows > a.path', 'a number and a string cannot be ordered', 7],
    ['a.ok && a.stats < 3', 'an object and a number cannot be ordered', 16],
    ['a.none >= 0', 'null and a number cannot be ordered', 7],
    ['a.rows', 'the value is a number, neither true nor false', 0],
    ['!a.stats["rows"]', 'the value is an array, neither true nor false', 1],
  ])('XP-04 %s cannot be judged, and the place is shown', (text, problem, position) => {
    const fault = faultOf(() => evaluate(text, [], variables))
    expect(fault).toMatchObject({ kind: 'invalid', code: 'core/bad-comparison', details: { position } })
    expect(fault.message).toContain(problem)
    expect(fault.details['excerpt']).toBe(`${text}\n${' '.repeat(position)}^`)
  })
})

describe('what cannot be read', () => {
  test.each([
    ['', 0, 'it is empty'],
    ['event:a.done &&', 15, 'a condition or a value is expected, not the end'],
    ['event:a.done && && event:b.done', 16, 'a condition or a value is expected, not "&&"'],
    ['(event:a.done', 0, 'this has no closing ")"'],
    ['event:a.done)', 12, 'no "(" belongs to this ")"'],
    ['event:a.done event:b.done', 13, '"&&", "||" or the end is expected, not "event:b.done"'],
    ['event:a.done and event:b.done', 13, 'expected, not "and"'],
    ['not event:a.done', 0, '"not" is not a variable'],
    ['event:a.done & event:b.done', 13, '"&" is not valid here'],
    ['event:a.done | event:b.done', 13, '"|" is not valid here'],
    ['a.x = 1', 4, '"=" is not valid here'],
    ['a.x === 1', 4, '"===" is not valid here'],
    ['a.x !== 1', 4, '"!==" is not valid here'],
    ['event: a.done', 6, 'the name of an event must follow "event:"'],
    ['event:*.completed', 6, 'has a wildcard'],
    ['event:done', 6, '"done" is not an event type'],
    ['event:a..done', 6, '"a..done" is not an event type'],
    ['event:a.done == true', 13, '"&&", "||" or the end is expected, not "=="'],
    ['true == event:a.done', 8, 'an event cannot be compared'],
    ['rows > 1', 0, '"rows" is not a variable'],
    ['a.x >', 5, 'a condition or a value is expected, not the end'],
    ['1 < a.x < 5', 8, 'comparisons cannot be chained'],
    ['!a.x == 1', 0, 'it is unclear what "!" negates here'],
    ['!a.x["k"] == b.x["k"]', 0, 'it is unclear what "!" negates here'],
    ['(a.x) == 1', 6, 'expected, not "=="'],
    ['1 == (a.x)', 5, 'a compared value must not be in parentheses'],
    ['"text"', 0, '"text" is neither true nor false'],
    ['3 && true', 0, '3 is neither true nor false'],
    ['a.x < null', 6, 'null cannot be ordered'],
    ['1 < "2"', 2, 'a number and a string cannot be ordered'],
    ['a.x == "open', 7, 'this string has no closing "'],
    ['a.x == "\\q"', 8, 'a backslash must begin one of'],
    ['a.x == 1e999', 7, 'the number is too large'],
    ['a.x[1.5] == 2', 4, 'an index must be a whole number from 0 on'],
    ['a.x[b.y] == 2', 4, 'a string or a number is expected within "[ ]"'],
    ['a.x[1 == 2', 6, '"]" is expected, not "=="'],
    ['exists', 6, '"exists" needs a variable in parentheses'],
    ['exists(1)', 7, '"exists" needs a variable'],
    ['{{ a.x }} == 1', 0, '"{" is not valid here'],
    ['a.x(1)', 3, 'expected, not "("'],
    ['a.x; b.y', 3, '";" is not valid here'],
    ['a.x == 💥', 7, '"💥" is not valid here'],
  ])('E-62 %j is refused at %j: %s', (text, position, problem) => {
    const fault = faultOf(() => parseExpression(text))
    expect(fault).toMatchObject({ kind: 'invalid', code: 'core/bad-expression', details: { position } })
    expect(fault.message).toContain(problem)
    expect(fault.message).toContain(`at character ${Array.from(text.slice(0, position)).length + 1}: `)
    expect(fault.message).not.toMatch(/\n/)
    expect(fault.details['excerpt']).toBe(`${text}\n${' '.repeat(position)}^`)
  })

  test('E-62 in a text of several lines the line is named and shown alone', () => {
    const fault = faultOf(() => parseExpression('event:a.done\n  && rows > 1\n'))
    expect(fault.message).toContain('at line 2, character 6: "rows" is not a variable')
    expect(fault.details['excerpt']).toBe('  && rows > 1\n     ^')
  })

  test('E-62 of a long line the surroundings are shown', () => {
    const text = `${'event:a.done && '.repeat(20)}? && ${'event:a.done && '.repeat(20)}event:a.done`
    const [line = '', caret = ''] = String(faultOf(() => parseExpression(text)).details['excerpt']).split(
      '\n',
    )
    expect(line.length).toBeLessThan(100)
    expect(line.charAt(caret.indexOf('^'))).toBe('?')
  })

  test('XP-05 length and depth are bounded, and what is within the bounds is read', () => {
    const atoms = (count: number): string => Array.from({ length: count }, () => 'event:a.b').join('&&')
    const most = Math.floor((EXPRESSION_MAX_CHARS + 2) / 'event:a.b&&'.length)
    expect(parseExpression(atoms(most)).condition).toMatchObject({ kind: 'all' })
    expect(faultOf(() => parseExpression(atoms(most + 1))).message).toContain(
      `the maximum is ${EXPRESSION_MAX_CHARS}`,
    )
    const nested = (depth: number, [open, close]: readonly [string, string]): string =>
      `${open.repeat(depth)}event:a.b${close.repeat(depth)}`
    for (const pair of [['(', ')'] as const, ['!', ''] as const]) {
      expect(evaluate(nested(EXPRESSION_MAX_DEPTH, pair), ['a.b'])).toBe(true)
      expect(faultOf(() => parseExpression(nested(EXPRESSION_MAX_DEPTH + 1, pair))).message).toContain(
        'nested',
      )
    }
  })

  test('XP-05 what is no text is refused like any other mistake', () => {
    for (const value of [undefined, null, 7, ['event:a.done'], { toString: () => 'true' }]) {
      expect(faultOf(() => parseExpression(value as string)).code).toBe('core/bad-expression')
    }
  })
})

describe('what an expression can reach', () => {
  test.each([
    'a.constructor',
    '__proto__.polluted',
    'constructor.prototype.x',
    'a.list["length"] == 0',
    'a.list["constructor"] == 0',
    'a.object["__proto__"] == 0',
    'a.object["toString"] == 0',
    'a.text["length"] == 4',
    'a.text[0] == "t"',
    'a.computed["value"] == 1',
    'a.made["inherited"] == 1',
    'a.when["getTime"] == 1',
  ])('XP-06 %s finds nothing: own data of the scope alone is there', (text) => {
    let ran = 0
    const variables = {
      'a.list': [],
      'a.object': {},
      'a.text': 'text',
      'a.computed': Object.defineProperty({}, 'value', { enumerable: true, get: () => ++ran }),
      'a.made': Object.create({ inherited: 1 }) as unknown,
      'a.when': new Date(0),
    }
    expect(evaluate(text, [], variables)).toBeUndefined()
    expect(ran).toBe(0)
  })

  test('XP-06 a scope is asked for nothing but the names in the text', () => {
    const { scope, asked } = scopeOf([], { 'a.x': 1 })
    evaluateExpression(parseExpression('a.x == 2 || b.y["k"] == a.x || event:c.done'), scope)
    expect(asked).toEqual(['read a.x', 'read b.y', 'has c.done'])
  })

  test('XP-06 a parsed expression cannot be changed', () => {
    const { condition } = parseExpression('event:a.done && !(b.x["k"] == 1)')
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen))
    expect(frozen(condition)).toBe(true)
  })
})

describe('references', () => {
  test('XP-07 an expression tells on which events and variables it depends', () => {
    const expression = parseExpression(
      'event:a.done && (b.x[0] > c.y || !exists(d.z)) && a.ok && event:e.done && event:a.done && b.x == 1',
    )
    expect(referencesOf(expression)).toEqual({
      events: ['a.done', 'e.done'],
      variables: ['b.x', 'c.y', 'd.z', 'a.ok'],
    })
  })
})

test('XP-08 an expression is printed in one plain way', () => {
  const text = ' ! ( event:a.done&&( b.x["k"][0]==\'it"s\' ||c.ok ) )  '
  expect(printExpression(parseExpression(text))).toBe('!(event:a.done && (b.x["k"][0] == "it\\"s" || c.ok))')
})

test('XP-10 a mistake that is a control character is told without it', () => {
  for (const text of ['\u007f', '\u0085', 'event:a.b \u009f']) {
    expect(faultOf(() => parseExpression(text)).message).not.toMatch(/\p{Cc}/u)
  }
})
