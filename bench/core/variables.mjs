// Updates a variable atomically, and evaluates an expression.
import { evaluateExpression } from '../../dist/core/expressions/evaluate-expression.js'
import { evaluateInExecution } from '../../dist/core/expressions/evaluate-in-execution.js'
import { parseExpression } from '../../dist/core/expressions/parse-expression.js'
import { openCore, openMemoryStore } from '../../dist/perago-core.js'
import { printTable } from '../support/figures.mjs'
import { eventOf } from './backends.mjs'
import { compareSides, timesAsLong, work } from './compare.mjs'

const EXPRESSION =
  'event:external.bench.a && (shared.rows >= 1000 || !event:external.bench.b) && shared.state == "ready"'
const COUNTED_TOGETHER = 1_000

export async function measureVariables({ backends, rounds, roundMs }) {
  const rows = []
  for (const { name, driver, ours, bare } of backends) {
    for (const writers of [1, 8]) {
      const compared = await compareSides({
        sides: [ours, bare],
        rounds,
        roundMs,
        run: async (side, until) => {
          const execution = await side.start(`bench_variables_${(started += 1)}`)
          return work(writers, until, (writer) =>
            side.update(execution, `shared.counter${writer}`, (current) => (current ?? 0) + 1),
          )
        },
      })
      const [mine, other] = compared
      rows.push([
        `update, ${name}, ${writers} at once`,
        ...[mine.rate, mine.p50, mine.p99, driver, other.rate, other.p50, other.p99],
        timesAsLong(compared),
      ])
    }
  }
  console.log(`## Variables: read, change and write as one step, each writer a variable of its own\n`)
  printTable(
    [
      'what',
      'updates/s',
      'p50 ms',
      'p99 ms',
      'beside',
      'updates/s',
      'p50 ms',
      'p99 ms',
      'time, ours to bare',
    ],
    rows,
  )
}

let started = 0

export async function measureExpressions({ rounds, roundMs }) {
  const execution = await openCore({ store: openMemoryStore() }).startExecution({ name: 'bench' })
  await execution.events.publish(eventOf('external.bench.a', 1))
  await execution.variables.set('shared.rows', 1_000)
  await execution.variables.set('shared.state', 'ready')
  const expression = parseExpression(EXPRESSION)
  const events = new Set(['external.bench.a'])
  const values = new Map([
    ['shared.rows', 1_000],
    ['shared.state', 'ready'],
  ])
  const scope = { has: (type) => events.has(type), read: (name) => values.get(name) }
  const reads = {
    hasEvent: (type) => execution.events.has(type),
    readVariable: (name) => execution.variables.get(name),
  }
  const byHand = () =>
    scope.has('external.bench.a') &&
    (scope.read('shared.rows') >= 1_000 || !scope.has('external.bench.b')) &&
    scope.read('shared.state') === 'ready'
  const kinds = [
    ['parse', () => parseExpression(EXPRESSION)],
    ['evaluate in a scope at hand', () => evaluateExpression(expression, scope)],
    ['evaluate in an execution in memory', () => evaluateInExecution(expression, reads)],
    ['the same condition as a function', byHand],
  ]
  const compared = await compareSides({
    sides: kinds,
    rounds,
    roundMs,
    run: async ([, act], until) => {
      let calls = 0
      while (performance.now() < until) {
        for (let n = 0; n < COUNTED_TOGETHER; n += 1) {
          const verdict = act()
          if (verdict instanceof Promise ? !(await verdict) : !verdict) throw new Error('judged wrongly')
        }
        calls += COUNTED_TOGETHER
      }
      return calls
    },
  })
  console.log(`## Expressions: \`${EXPRESSION.replaceAll('|', '\\|')}\`\n`)
  printTable(
    ['what', 'a second', 'µs each'],
    kinds.map(([what], at) => [what, compared[at].rate, 1e6 / compared[at].rate]),
  )
}
