import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { freshName } from '../support/servers/own-database.ts'
import { CannotStart, type StartedServer } from '../support/servers/real-server.ts'
import { startRedisCluster } from '../support/servers/redis-cluster.ts'
import { presentOrSkip } from '../support/servers/servers.ts'
import { forgetByWriting } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

let cluster: StartedServer | undefined
let missing = ''

beforeAll(async () => {
  try {
    cluster = await startRedisCluster()
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    missing = error.message
  }
})
afterAll(() => cluster?.close())

function urlFor(context: TestContext): string {
  return (
    cluster?.url ??
    presentOrSkip({ kind: 'redis', reason: `redis cluster: ${missing}` }, context, process.env).url
  )
}

storeConformance('redis cluster', {
  open: async (context) => {
    const url = urlFor(context)
    const options = { url, clusterNodes: [new URL(url).host], prefix: `{${freshName()}}:`, changesKept: 200 }
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

test('ST-29 in a cluster a prefix without a hash tag is refused', async () => {
  const opening = openRedisStore({
    url: 'redis://127.0.0.1',
    clusterNodes: ['127.0.0.1:1'],
    prefix: 'perago:',
  })
  await expect(opening).rejects.toMatchObject({ code: 'stores/bad-address', kind: 'invalid' })
})
