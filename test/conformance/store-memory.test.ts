import { setTimeout as wait } from 'node:timers/promises'
import { createMemorySpace, openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { forgetByWriting } from './store-cases/scene.ts'
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
      forgetChanges: () => forgetByWriting(store),
      close: () => store.close(),
    })
  },
})
