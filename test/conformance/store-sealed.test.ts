import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Store, StoreBatch } from '../../src/core/ports.ts'
import { createMemorySpace, openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { sealStore } from '../../src/stores/sealed/sealed-store.ts'
import { forgetByWriting } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

const options = { encryption: { keys: { one: Buffer.alloc(32, 1) }, use: 'one' }, compressFromBytes: 64 }

storeConformance('ST-90 sealed memory', {
  open: () => {
    const space = createMemorySpace({ changesKept: 200 })
    const store = sealStore(openMemoryStore({ space }), options)
    return Promise.resolve({
      store,
      openAnother: () => Promise.resolve(sealStore(openMemoryStore({ space }), options)),
      outlive: async (ttlMs) => {
        await wait(ttlMs)
      },
      forgetChanges: () => forgetByWriting(store),
      close: () => store.close(),
    })
  },
})

test('ST-90 a sealed store answers as the store that it is around would: batches, conditions, pages, deletions', async () => {
  const plain = openMemoryStore({ space: createMemorySpace({ changesKept: 200 }) })
  const inner = openMemoryStore({ space: createMemorySpace({ changesKept: 200 }) })
  const sealed = sealStore(inner, options)
  onTestFinished(async () => {
    await plain.close()
    await sealed.close()
  })
  const tell = async (store: Store): Promise<readonly unknown[]> => {
    const told: unknown[] = []
    const put = (key: string, text: string): StoreBatch['operations'][number] => ({
      do: 'put',
      key,
      value: Buffer.from(text),
    })
    const commit = async (batch: StoreBatch): Promise<void> => {
      const outcome = await store.commit(batch)
      told.push(outcome.committed ? 'committed' : outcome.unmet.map(({ key }) => key))
    }
    const operations = ['a', 'b', 'c'].map((name) => put(`events:x:${name}`, `${name} `.repeat(100)))
    await commit({ conditions: [{ key: 'events:x:a', is: 'absent' }], operations })
    await commit({ conditions: [{ key: 'events:x:a', is: 'absent' }], operations })
    const revision = (await store.get('events:x:b'))?.revision ?? -1
    const at = { key: 'events:x:b', is: 'at', revision } as const
    await commit({ conditions: [at], operations: [put('events:x:b', 'new')] })
    await commit({ conditions: [at], operations: [{ do: 'delete', key: 'events:x:b' }] })
    for (const order of ['ascending', 'descending'] as const) {
      for (let after: string | undefined, page = 0; page < 3; page++) {
        const found = await store.range({
          prefix: 'events:',
          order,
          limit: 2,
          ...(after === undefined ? {} : { after }),
        })
        told.push(found.entries.map(({ key, value }) => [key, Buffer.from(value).toString()]))
        after = found.next
        if (after === undefined) break
      }
    }
    told.push(await store.clear('events:x:'), await store.get('events:x:a'))
    return told
  }
  const told = await tell(plain)
  expect(told.slice(0, 4)).toEqual(['committed', ['events:x:a'], 'committed', ['events:x:b']])
  expect(await tell(sealed)).toEqual(told)
})
