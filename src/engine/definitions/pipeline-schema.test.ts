// The published JSON Schema and the reader accept the same documents.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { compileDocument } from './compile-document.ts'
import { checkDocumentShape, pipelineSchema } from './document-shape.ts'

const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(pipelineSchema())

test('EN-520 the published schema is that of the reader', async () => {
  const text = await format(JSON.stringify(pipelineSchema()), { parser: 'json', printWidth: 110 })
  await expect(text).toMatchFileSnapshot('../../../schemas/pipeline.schema.json')
})

test('EN-520 a document with everything is accepted by both', () => {
  expect(compileDocument(EVERYTHING).problems).toEqual([])
  expect([validate(EVERYTHING), validate.errors]).toEqual([true, null])
})

test('EN-520 what one of them refuses, the other refuses', () => {
  const verdicts = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(fc.array(MUTATION, { minLength: 1, maxLength: 3 }), (mutations) => {
      const document = mutations.reduce<unknown>(mutate, structuredClone(EVERYTHING))
      const isAccepted = checkDocumentShape(document).length === 0
      verdicts[isAccepted ? 'accepted' : 'refused'] += 1
      expect(validate(document), JSON.stringify(document)).toBe(isAccepted)
    }),
    { numRuns: 2_000 },
  )
  expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(50)
})

interface Mutation {
  /** Which of all places, as a share. */
  readonly at: number
  readonly how: 'remove' | 'replace' | 'rename' | 'add' | 'copy'
  readonly value: unknown
  readonly key: string
  readonly from: number
}

const VALUES = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1,
    1.5,
    10_001,
    '',
    'a',
    'a b',
    'a.b',
    '5s',
    '5 min',
    '200ms',
    '1.5h',
    '512MiB',
  ],
  ...['${a.b}', ' ${a.b} ', 'x ${a.b}', '${}', 'fixed', 'any', 'last', 'COMPLETED', 'x@y', '__proto__'],
  ...[
    [],
    [1],
    ['a'],
    {},
    { a: 1 },
    { task: 't' },
    { barrier: true },
    { x: { task: 't' } },
    { timeout: '1s' },
  ],
]
const KEYS = [
  'task',
  'wait',
  'units',
  'after',
  'x',
  'default',
  'system',
  'a.b',
  'loop__1',
  '__proto__',
  'input',
  'then',
]

const MUTATION: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  from: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  how: fc.constantFrom('remove', 'replace', 'rename', 'add', 'copy'),
  value: fc.constantFrom(...VALUES),
  key: fc.constantFrom(...KEYS),
})

interface Place {
  readonly holder: Record<string, unknown>
  readonly key: string
}

function mutate(document: unknown, { at, from, how, value, key }: Mutation): unknown {
  const places = placesIn(document)
  const place = places[Math.floor(at * places.length)]
  if (place === undefined) return document
  const { holder } = place
  const old = holder[place.key]
  const set = (name: string, what: unknown): void => {
    // A property of its own, also for "__proto__".
    Object.defineProperty(holder, name, { value: what, enumerable: true, configurable: true, writable: true })
  }
  const remove = (): void => {
    if (Array.isArray(holder)) holder.splice(Number(place.key), 1)
    else Reflect.deleteProperty(holder, place.key)
  }
  if (how === 'remove') remove()
  else if (how === 'replace') set(place.key, structuredClone(value))
  else if (how === 'copy') {
    const other = places[Math.floor(from * places.length)]
    set(place.key, structuredClone(other?.holder[other.key]))
  } else if (!Array.isArray(holder)) {
    if (how === 'rename') remove()
    set(key, how === 'rename' ? old : structuredClone(value))
  }
  return document
}

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}

const EVERYTHING: unknown = parse(`
$schema: ../schemas/pipeline.schema.json
name: all.kinds
version: 2
description: Every field once.
owner: data@example.org
input: { workspace: { description: Where. }, day: { default: '2026-01-15' } }
timeout: 2h
onTimeout: alert
restartable: false
policy: { onFailure: rollback, attempts: 3, recover: { back: unit, times: 2 }, verify: { task: check, input: { x: 1 } } }
units:
  load:
    task: orders.load
    workspace: \${workflow.input.workspace}
    params: { day: '\${workflow.input.day}' }
    input: { more: 1 }
    retry: { times: 2, delay: 10s, backoff: linear, maxDelay: 1min, jitter: 100ms }
    timeout: 1h
    lease: 30s
    target: warehouse
    description: Loads.
    startDelay: 5s
    optional: true
    phase: early
    planning: { priority: 1, complexity: 0.2, impact: 0.3, cpu: 1, memory: 1GiB, gpu: 0, expected: 500ms, affinity: x }
    undo: { task: orders.remove, input: { day: 1 }, order: 1 }
  pause: { wait: { for: 1min } }
  until: { wait: { until: '2026-01-15T00:00:00Z' } }
  ready: { wait: { events: [external.ready, external.go], which: any, timeout: 1h }, after: [load] }
  approve: { human: { input: { x: 1 }, timeout: 1d }, onlyIf: load.result > 1, startWhen: 'event:external.ask' }
  choose: { switch: '\${load.output.result}', cases: { a: { one: { task: one } } }, default: { two: { barrier: true } } }
  decide: { if: '\${load.output.result}', then: { three: { task: three } }, else: { four: { set: { x: 1 } } } }
  all: { each: [1, 2], max: 10, atOnce: 2, units: { five: { task: five, params: '\${all.item}' } } }
  again: { while: six.result, max: 3, units: { six: { task: six } } }
  child: { pipeline: other, version: 1, input: { x: 1 } }
  stop: { end: TERMINATED, reason: Enough., output: { x: 1 }, after: [child] }
  copy: { template: pair, with: { table: a }, after: [load], description: Filled in. }
output: { rows: '\${load.output.result}' }
templates:
  pair:
    description: Two.
    parameters: { table: { description: Which. }, limit: { default: 5 } }
    units: { get: { task: get, params: '\${template.table}' }, put: { task: put, params: '\${get.output.result}' } }
    output: { rows: '\${put.output.result}' }
schedules:
  nightly: { cron: '0 2 * * *', timeZone: Europe/Berlin, catchUp: all, input: { day: today } }
`)
