import { expect, test } from 'vitest'
import {
  eventKey,
  eventsPrefix,
  executionId,
  executionKey,
  EXECUTIONS_PREFIX,
  leaseKey,
  logKey,
  logPrefix,
  tenantId,
  variableKey,
  variablesPrefix,
  type ExecutionId,
} from './keys.ts'

const scope = { execution: executionId('exec_12345') }

test('ST-15 an execution’s events, variables and log lie under keys that say so', () => {
  expect(eventKey(scope, 'pipeline.started')).toBe('events:exec_12345:pipeline.started')
  expect(variableKey(scope, 'pipeline.input.start_date')).toBe(
    'variables:exec_12345:pipeline.input.start_date',
  )
  expect(logKey(scope, 42)).toBe('log:exec_12345:0000000000000042')
  expect(executionKey(scope)).toBe(`${EXECUTIONS_PREFIX}exec_12345`)
  expect(leaseKey('sweeper')).toBe('leases:sweeper')
})

test('ST-15 log keys sort as their sequence numbers do', () => {
  const numbers = [0, 1, 9, 10, 99, 100, 2 ** 32, Number.MAX_SAFE_INTEGER]
  const keys = numbers.map((sequence) => logKey(scope, sequence))
  expect([...keys].sort()).toEqual(keys)
  for (const sequence of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
    expect(() => logKey(scope, sequence)).toThrow(/core\/|is no sequence number/)
  }
})

test('N-44 an id with a separator, a wildcard or white space, an empty one and no text are refused', () => {
  const wrong = ['', ' ', 'a b', 'a:b', 'a*', 'a/b', 'a.b', 'é', 'a\n', 'x'.repeat(129)]
  for (const text of wrong) {
    expect(() => executionId(text), text).toThrow(/as the id of an execution/)
    expect(() => eventsPrefix({ execution: text as ExecutionId }), text).toThrow(/as the id of an execution/)
    expect(() => tenantId(text), text).toThrow(/as the id of a tenant/)
  }
  expect(() => eventsPrefix({ execution: undefined as unknown as ExecutionId })).toThrow(/type undefined/)
  for (const text of ['exec_12345', 'exec-12345', 'A', '0', 'x'.repeat(128)])
    expect(executionId(text)).toBe(text)
})

test('N-44 no execution’s prefix is the beginning of another’s', () => {
  const ids = ['exec_1', 'exec_10', 'exec_', 'exec', 'e', 'exec_1-', 'exec_1_']
  const scopes = [
    ...ids.map((id) => ({ execution: executionId(id) })),
    ...ids.map((id) => ({ execution: executionId(id), tenant: tenantId('exec_1') })),
  ]
  for (const prefixOf of [eventsPrefix, variablesPrefix, logPrefix]) {
    const prefixes = scopes.map(prefixOf)
    const inside = prefixes.flatMap((one) => prefixes.filter((two) => one !== two && two.startsWith(one)))
    expect(inside).toEqual([])
  }
})

test('N-59 one execution id under two tenants has two addresses, and the default tenant shows in none', () => {
  const [acme, other] = ['acme', 'other'].map((tenant) => ({ ...scope, tenant: tenantId(tenant) }))
  expect(eventKey(acme!, 'a.b')).toBe('events:acme/exec_12345:a.b')
  expect(variableKey(other!, 'a.b')).toBe('variables:other/exec_12345:a.b')
  expect(eventKey(scope, 'a.b')).toBe('events:exec_12345:a.b')
})

test('ST-15 a name that would blur a key is refused', () => {
  for (const name of ['', 'a:b', 'a*', 'a b', 'a/b', 'a\u0000']) {
    expect(() => eventKey(scope, name)).toThrow(/as an event type/)
    expect(() => variableKey(scope, name)).toThrow(/as a variable name/)
  }
})
