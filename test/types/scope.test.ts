// What the types alone rule out: reaching from one execution into another, and listing executions.
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readText } from '../support/source-tree.ts'
import { compileSnippets, describeTypes, listExports, type DescribedMethod } from '../support/type-check.ts'

const PRELUDE = `import type { Core, Execution, ExecutionEvent, ExecutionId, NodeScope } from './src/perago-core.ts'
declare const core: Core
declare const execution: Execution
declare const node: NodeScope
declare const other: ExecutionId
declare const event: ExecutionEvent`

const ENTRY = 'src/perago-core.ts'

const REFUSED = {
  noExecution: [
    `void core.events.hasEvent('a.completed')`,
    `void core.events.hasEvent(undefined, 'a.completed')`,
    `void core.events.hasEvent('exec_1', 'a.completed')`,
    `void core.events.getEvent('a.completed')`,
    `void core.events.queryEvents()`,
    `void core.events.queryEvents({ types: ['a.completed'] })`,
    `void core.events.publishEvent({ type: 'external.a', source: { entityType: 'external', entityId: 'x' } })`,
    `void core.events.clearEvents()`,
    `void core.variables.get('a.b')`,
    `void core.variables.exists('a.b')`,
    `void core.variables.set('a.b', 1)`,
    `void core.variables.update('a.b', () => 1)`,
    `void core.variables.remove('a.b')`,
    `void core.variables.list()`,
    `void core.variables.resolve('{{ a.b }}')`,
    `core.variables.watch({ signal: new AbortController().signal })`,
    `void core.openExecution()`,
  ],
  another: [
    `void execution.events.has(other, 'a.completed')`,
    `void execution.events.query({ executionId: other })`,
    `void execution.variables.get(other, 'a.b')`,
    `void node.variables.set(other, 'a.b', 1)`,
  ],
  filter: [
    `void execution.events.query({ executionId: other })`,
    `void execution.events.query({ execution: other })`,
    `void core.events.queryEvents(other, { execution: other })`,
  ],
  change: [`event.type = 'a.b'`, `event.source.entityId = 'b'`, `event.payload['rows'] = 1`],
} as const

const ACCEPTED = {
  noExecution: [
    `void core.events.hasEvent(other, 'a.completed')`,
    `void core.variables.get(other, 'a.b')`,
    `void core.events.queryEvents(other)`,
  ],
  another: [`void execution.events.has('a.completed')`, `void node.variables.set('a.b', 1)`],
  filter: [
    `void execution.events.query({ types: ['**'], source: { entityId: 'a' }, timeRange: {}, after: 1, limit: 1 })`,
  ],
  change: [`export const rows = event.payload['rows']`],
} as const

const TYPES = ['Core', 'Execution', 'NodeScope', 'EventManager', 'VariableStore']

let codes: ReadonlyMap<string, readonly number[]>
let methods: ReturnType<typeof describeTypes>

beforeAll(() => {
  const lines = [REFUSED, ACCEPTED].flatMap((cases) => Object.values<readonly string[]>(cases).flat())
  const found = compileSnippets(lines.map((line) => `${PRELUDE}\n${line}`))
  codes = new Map(lines.map((line, index) => [line, found[index] ?? []]))
  methods = describeTypes(ENTRY, TYPES)
})

function check(of: keyof typeof REFUSED): void {
  const compiling = REFUSED[of].filter((line) => codes.get(line)?.length === 0)
  expect(compiling).toEqual([])
  expect(ACCEPTED[of].map((line) => codes.get(line))).toEqual(ACCEPTED[of].map(() => []))
}

const methodsOf = (type: string): readonly DescribedMethod[] => methods.get(type) ?? []
const namesOf = (type: string): readonly string[] => methodsOf(type).map(({ name }) => name)

test('N-46 no operation of events or variables compiles without an execution id, or with a plain string', () => {
  check('noExecution')
})

test('N-11 N-24 every operation of events and of variables takes the execution id first', () => {
  for (const { name, parameters } of [...methodsOf('EventManager'), ...methodsOf('VariableStore')]) {
    expect({ name, first: parameters[0] }).toEqual({ name, first: 'ExecutionId' })
  }
})

test('N-47 E-88 no operation of a handle has a parameter that could name another execution', () => {
  const found = [...methodsOf('Execution'), ...methodsOf('NodeScope')]
  expect(found.length).toBeGreaterThan(20)
  expect(found.filter(({ mentions }) => mentions.includes('ExecutionId'))).toEqual([])
  check('another')
})

test('N-48 nothing that perago/core exports lists executions', () => {
  const returning = TYPES.flatMap((type) =>
    methodsOf(type)
      .filter(({ returns }) => /ExecutionId|ExecutionRecord/.test(returns))
      .map(({ name, returns }) => `${type}.${name}: ${returns}`),
  )
  expect(returning).toEqual([])
  expect(namesOf('Core').filter((name) => !name.includes('.'))).toEqual(['openExecution', 'startExecution'])
  const { values } = listExports([ENTRY]).get(ENTRY)!
  expect(values.filter((name) => /registry|list|scan/i.test(name))).toEqual([])
})

test('E-31 the event manager has three reads, and each takes the execution id first', () => {
  const reads = methodsOf('EventManager').filter(({ name }) => !/^(publish|clear)/.test(name))
  // The third answers whole or by page.
  expect(reads.map(({ name }) => name)).toEqual(['getEvent', 'hasEvent', 'queryEventPage', 'queryEvents'])
  expect(reads.map(({ parameters }) => parameters[0])).toEqual(reads.map(() => 'ExecutionId'))
})

test('E-84 E-85 the event manager has no operation that changes or deletes a single event', () => {
  expect(namesOf('EventManager')).toEqual([
    'clearEvents',
    'getEvent',
    'hasEvent',
    'publishEvent',
    'queryEventPage',
    'queryEvents',
  ])
})

test('E-85 no handle, no archive and no route has an operation that deletes one event', () => {
  const archive = describeTypes('src/core/events/archive-port.ts', ['EventArchive']).get('EventArchive')!
  const ofEvents = [
    ...methodsOf('Core').filter(({ name }) => name.startsWith('events.')),
    ...[...methodsOf('Execution'), ...methodsOf('NodeScope')].filter(({ name }) => /^events\b/.test(name)),
    ...methodsOf('EventManager'),
    ...archive,
  ]
  const removing = ofEvents.filter(({ name }) => /clear|remove|delete|drop|purge/i.test(name))
  // Each takes a whole execution, and nothing that could name one of its events.
  expect(removing.map(({ name, parameters }) => `${name}(${parameters.join(', ')})`)).toEqual([
    'events.clearEvents(ExecutionId, ClearRule | undefined)',
    'clearEvents(ExecutionId, ClearRule | undefined)',
    'remove(ArchivePlace)',
  ])
  const contract = parse(readText('openapi/perago.yaml')) as { paths: Record<string, object> }
  const deleting = Object.entries(contract.paths).filter(([, path]) => 'delete' in path)
  expect(deleting.map(([path]) => path).filter((path) => path.includes('event'))).toEqual([])
})

test('E-05 E-06 the event manager takes no callback, subscription or topic', () => {
  const parameters = methodsOf('EventManager').flatMap(({ mentions }) => mentions)
  expect(parameters.filter((mention) => /=>|callback|listener|subscri|topic/i.test(mention))).toEqual([])
})

test('E-32 no filter of a query can name another execution', () => {
  check('filter')
})

test('E-84 a recorded event is read-only to the compiler', () => {
  check('change')
})
