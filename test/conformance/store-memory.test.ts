import { setTimeout as wait } from 'node:timers/promises'
import { createMemorySpace, openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { numbered, put, write } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

storeConformance('memory', {
  open: () => {
    const space = createMemorySpace({ changesKept: 200 })
    const store = openMemoryStore({ space })
    return Promise.resolve({
      store,
      openAnother: () => Promise.resolve(openMemoryStore({ space })),
      outlive: async (ttlMs) => {
        await wait(ttlMs)
      },
      forgetChanges: async () => {
        for (const key of numbered('forget:', 1000)) await write(store, put(key))
      },
      close: () => store.close(),
    })
  },
})
