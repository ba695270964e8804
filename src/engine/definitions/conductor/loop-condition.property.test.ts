import fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { evaluateExpression } from '../../../core/expressions/evaluate-expression.ts'
import { parseExpression } from '../../../core/expressions/parse-expression.ts'
import { translateLoopCondition } from './loop-condition.ts'

const names = ['n', 'm', 's', 'flag', 'gone']
const number = fc.constantFrom('n', 'm', 'gone')
const numeric = fc.integer({ min: -3, max: 3 }).map(String)
const atom = fc.oneof(
  fc
    .tuple(number, fc.constantFrom('<', '<=', '>', '>=', '==', '!=', '===', '!=='), numeric)
    .map(([name, operator, value]) => `$.t['${name}'] ${operator} ${value}`),
  fc.tuple(number, fc.constantFrom('<', '>=')).map(([name, operator]) => `2 ${operator} $.t.${name}`),
  fc
    .tuple(fc.constantFrom('s', 'gone'), fc.constantFrom('==', '!='))
    .map(([name, operator]) => `$.t.${name} ${operator} 'on'`),
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom('==', '!='))
    .map(([name, operator]) => `$.t["${name}"] ${operator} null`),
  fc.constantFrom('$.t.flag', '!$.t.flag', '$.t.gone', '!$.t.gone', 'true', '!true'),
)
const { script } = fc.letrec<{ script: string; inner: string }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('inner'), fc.constantFrom('&&', '||'), tie('inner')).map((parts) => `(${parts.join(' ')})`),
    tie('inner').map((inside) => `!(${inside})`),
  ),
  script: tie('inner').chain((text) =>
    fc.constantFrom(
      text,
      `${text};`,
      `if (${text}) { true; } else { false; }`,
      `if (${text}) { return false; } else { return true; }`,
    ),
  ),
}))

const outputs = fc.record(
  {
    n: fc.integer({ min: -3, max: 3 }),
    m: fc.integer({ min: -3, max: 3 }),
    s: fc.constantFrom('on', 'off'),
    flag: fc.boolean(),
  },
  { requiredKeys: [] },
)

/** What JavaScript makes of it; the branches of "if" as a function. */
function byJavaScript(text: string, t: object): boolean {
  const body = text.startsWith('if')
    ? text.replace(/\{ (?:return )?(true|false); \}/g, '{ return $1; }')
    : `return ${text}`
  return runInNewContext(`Boolean((function ($) { ${body} })({ t }))`, { t }) as boolean
}

test('EN-575 a condition holds for us where it holds in JavaScript, also where outputs are missing', () => {
  fc.assert(
    fc.property(script, outputs, (text, t) => {
      const translated = translateLoopCondition(text, ([, name = '']) => ({
        variable: `t.${name}`,
        steps: 2,
      }))
      if (!('text' in translated)) throw new Error(translated.problem)
      const verdict = evaluateExpression(parseExpression(translated.text), {
        has: () => false,
        read: (name) => (t as Record<string, unknown>)[name.slice(2)],
      })
      expect(verdict).toBe(byJavaScript(text, t))
    }),
  )
})
