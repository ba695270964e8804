import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { forgetByWriting } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

storeConformance('sqlite', {
  open: () => {
    const directory = mkdtempSync(join(tmpdir(), 'perago-store-'))
    const options = { file: join(directory, 'made', 'store.db'), changesKept: 200 }
    const store = openSqliteStore(options)
    return Promise.resolve({
      store,
      openAnother: () => Promise.resolve(openSqliteStore(options)),
      outlive: async (ttlMs) => {
        await wait(ttlMs + 10)
      },
      forgetChanges: () => forgetByWriting(store),
      close: async () => {
        await store.close()
        rmSync(directory, { recursive: true })
      },
    })
  },
})
