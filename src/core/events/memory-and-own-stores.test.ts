// What a store has to be, and what the one in memory is.
import { expect, test } from 'vitest'
import { externalEvent, nodeEvent } from '../../../test/support/core-world.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openCore } from '../life-cycle/core.ts'
import type { Store, StoreEntry } from '../ports.ts'

test('E-66 the memory store keeps an append-only log of each execution beside the latest event of each type', async () => {
  const store = openMemoryStore()
  const execution = await openCore({ store }).startExecution({ name: 'etl', id: 'exec_1' })
  for (const attempt of [1, 2]) await execution.events.publish(nodeEvent('a.retrying', { attempt }))
  const keys = (await store.range({ prefix: '' })).entries.map(({ key }) => key)
  expect(keys.filter((key) => /^(events|log):/.test(key))).toEqual([
    'events:exec_1:a.retrying',
    'events:exec_1:pipeline.started',
    'log:exec_1:0000000000000001',
    'log:exec_1:0000000000000002',
    'log:exec_1:0000000000000003',
  ])
  const [latest, last] = [
    await store.get('events:exec_1:a.retrying'),
    await store.get('log:exec_1:0000000000000003'),
  ]
  expect(latest?.value).toEqual(last?.value)
  await store.close()
})

test('in memory a look for an event waits for nothing, touches one key and reads its bytes once', async () => {
  const peeked: string[] = []
  const memory = openMemoryStore()
  const store: Store = {
    ...memory,
    get: () => Promise.reject(new Error('asked and waited for')),
    peek: (key) => {
      peeked.push(key)
      return memory.peek?.(key)
    },
  }
  const core = openCore({ store: memory })
  const { id } = await core.startExecution({ name: 'etl', id: 'exec_1' })
  await core.events.publishEvent(id, externalEvent('external.a'))
  const { events } = openCore({ store })
  expect(await events.hasEvent(id, 'external.a')).toBe(true)
  expect(await events.hasEvent(id, 'external.b')).toBe(false)
  const event = await events.getEvent(id, 'external.a')
  expect(event).toMatchObject({ executionId: 'exec_1', type: 'external.a' })
  expect(await events.getEvent(id, 'external.a')).toBe(event)
  expect(peeked).toEqual(['a', 'b', 'a', 'a'].map((name) => `events:exec_1:external.${name}`))
  await core.events.publishEvent(id, externalEvent('external.a'))
  expect((await events.getEvent(id, 'external.a'))?.sequence).toBe(3)
})

test('E-69 a second memory store sees nothing of the first', async () => {
  const [one, other] = [openCore({ store: openMemoryStore() }), openCore({ store: openMemoryStore() })]
  const { id } = await one.startExecution({ name: 'etl' })
  await expect(other.openExecution(id)).rejects.toMatchObject({ code: 'core/no-such-execution' })
  expect(await other.events.hasEvent(id, 'pipeline.started')).toBe(false)
})

/** All that the port asks for, over a plain map, in a page of code. */
function openOwnStore(): Store {
  const entries = new Map<string, StoreEntry>()
  let revision = 0
  const matching = (prefix: string): StoreEntry[] =>
    [...entries.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((one, other) => (one.key < other.key ? -1 : 1))
  return {
    name: 'own',
    get: (key) => Promise.resolve(entries.get(key)),
    range: ({ prefix, after, order = 'ascending', limit = 100 }) => {
      const all = order === 'ascending' ? matching(prefix) : matching(prefix).reverse()
      const rest = all.filter(
        ({ key }) => after === undefined || (order === 'ascending' ? key > after : key < after),
      )
      const page = rest.slice(0, limit)
      return Promise.resolve({ entries: page, next: rest.length > limit ? page.at(-1)?.key : undefined })
    },
    commit: ({ conditions = [], operations }) => {
      const unmet = conditions
        .filter((condition) => {
          const found = entries.get(condition.key)
          if (condition.is === 'at') return found?.revision !== condition.revision
          return (found !== undefined) !== (condition.is === 'present')
        })
        .map(({ key }) => ({ key, revision: entries.get(key)?.revision }))
      if (unmet.length > 0) return Promise.resolve({ committed: false, unmet })
      revision += 1
      for (const operation of operations) {
        const { key } = operation
        if (operation.do === 'delete') entries.delete(key)
        else
          entries.set(key, { key, value: operation.value, revision, expires: operation.ttlMs !== undefined })
      }
      return Promise.resolve({ committed: true, revision })
    },
    clear: (prefix) => {
      const keys = matching(prefix).map(({ key }) => key)
      for (const key of keys) entries.delete(key)
      return Promise.resolve(keys.length)
    },
    watch: async function* () {
      await Promise.resolve()
      yield { kind: 'ready', cursor: '' }
    },
    close: () => Promise.resolve(),
  }
}

test('E-112 a store of ones own is plugged in by implementing one interface', async () => {
  const core = openCore({ store: openOwnStore() })
  const execution = await core.startExecution({ name: 'etl', inputs: { day: '2025-01-01' } })
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => execution.events.publish(externalEvent('external.n', { n }))),
  )
  await execution.variables.update('shared.count', (count) => Number(count ?? 0) + 1)
  await execution.finish({ status: 'completed', outputs: { rows: 7 } })
  expect((await execution.events.query({ types: ['external.n'] })).map(({ payload }) => payload.n)).toEqual(
    Array.from({ length: 20 }, (_, n) => n),
  )
  expect(await execution.variables.list()).toMatchObject({ 'pipeline.output.rows': 7, 'shared.count': 1 })
  expect(await core.events.clearEvents(execution.id)).toBe(22)
})
