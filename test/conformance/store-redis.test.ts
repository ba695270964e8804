import { setTimeout as wait } from 'node:timers/promises'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { forgetByWriting } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

const redis = useRealServer('redis')

storeConformance('redis', {
  open: async (context) => {
    const { url } = redis(context)
    const options = { url, prefix: `{${freshName()}}:`, changesKept: 200 }
    const store = await openRedisStore(options)
    return {
      store,
      openAnother: () => openRedisStore(options),
      outlive: async (ttlMs) => {
        await wait(ttlMs + 10)
      },
      forgetChanges: () => forgetByWriting(store),
      close: () => store.close(),
    }
  },
})
