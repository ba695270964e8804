import { expect, test } from 'vitest'
import {
  executionId,
  executionKeys,
  EXECUTIONS_PREFIX,
  leaseKey,
  tenantId,
  type ExecutionId,
} from './keys.ts'

const scope = { execution: executionId('exec_12345') }
const keys = executionKeys(scope)
const keysOf = (execution: unknown): unknown => executionKeys({ execution: execution as ExecutionId })

test('ST-15 an execution’s events, variables and log lie under keys that say so', () => {
  expect(keys.event('pipeline.started')).toBe('events:exec_12345:pipeline.started')
  expect(keys.variable('pipeline.input.start_date')).toBe('variables:exec_12345:pipeline.input.start_date')
  expect(keys.entry(42)).toBe('log:exec_12345:0000000000000042')
  expect(keys.record).toBe(`${EXECUTIONS_PREFIX}exec_12345`)
  expect(leaseKey('sweeper')).toBe('leases:sweeper')
})

test('ST-15 log keys sort as their sequence numbers do', () => {
  const numbers = [0, 1, 9, 10, 99, 100, 2 ** 32, Number.MAX_SAFE_INTEGER]
  const entries = numbers.map((sequence) => keys.entry(sequence))
  expect([...entries].sort()).toEqual(entries)
  for (const sequence of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
    expect(() => keys.entry(sequence)).toThrow(/core\/|is not a sequence number/)
  }
})

test('N-44 an id with a separator, a wildcard or white space, an empty one and no text are refused', () => {
  const wrong = ['', ' ', 'a b', 'a:b', 'a*', 'a/b', 'a.b', 'é', 'a\n', 'x'.repeat(129)]
  for (const text of wrong) {
    expect(() => executionId(text), text).toThrow(/as the id of an execution/)
    expect(() => keysOf(text), text).toThrow(/as the id of an execution/)
    expect(() => tenantId(text), text).toThrow(/as the id of a tenant/)
  }
  expect(() => keysOf(undefined)).toThrow(/type undefined/)
  for (const text of ['exec_12345', 'exec-12345', 'A', '0', 'x'.repeat(128)])
    expect(executionId(text)).toBe(text)
})

test('N-44 no execution’s prefix is the beginning of another’s', () => {
  const ids = ['exec_1', 'exec_10', 'exec_', 'exec', 'e', 'exec_1-', 'exec_1_']
  const scopes = [
    ...ids.map((id) => ({ execution: executionId(id) })),
    ...ids.map((id) => ({ execution: executionId(id), tenant: tenantId('exec_1') })),
  ]
  for (const kind of ['events', 'variables', 'log', 'waiting'] as const) {
    const prefixes = scopes.map((one) => executionKeys(one)[kind])
    const inside = prefixes.flatMap((one) => prefixes.filter((two) => one !== two && two.startsWith(one)))
    expect(inside).toEqual([])
  }
})

test('N-59 one execution id under two tenants has two addresses, and the default tenant shows in none', () => {
  const [acme, other] = ['acme', 'other'].map((tenant) => ({ ...scope, tenant: tenantId(tenant) }))
  expect(executionKeys(acme!).event('a.b')).toBe('events:acme/exec_12345:a.b')
  expect(executionKeys(other!).variable('a.b')).toBe('variables:other/exec_12345:a.b')
  expect(keys.event('a.b')).toBe('events:exec_12345:a.b')
})

test('ST-15 a name that would blur a key is refused', () => {
  for (const name of ['', 'a:b', 'a*', 'a b', 'a/b', 'a\u0000']) {
    expect(() => keys.event(name)).toThrow(/as an event type/)
    expect(() => keys.variable(name)).toThrow(/as a variable name/)
  }
})
