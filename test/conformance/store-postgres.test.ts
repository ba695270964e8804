import { setTimeout as wait } from 'node:timers/promises'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { forgetByWriting } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

const postgres = useRealServer('postgres')

storeConformance('postgres', {
  open: async (context) => {
    const { url } = postgres(context)
    const options = { url, schema: freshName(), changesKept: 200, connections: 5 }
    const store = await openPostgresStore(options)
    return {
      store,
      openAnother: () => openPostgresStore(options),
      outlive: async (ttlMs) => {
        await wait(ttlMs + 10)
      },
      forgetChanges: () => forgetByWriting(store),
      close: () => store.close(),
    }
  },
})
