import { setTimeout as wait } from 'node:timers/promises'
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
