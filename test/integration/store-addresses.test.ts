// Goal: what an address says besides where the server is, and what the configuration says besides the address, takes effect.
import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openCore } from '../../src/core/life-cycle/core.ts'
import type { Store } from '../../src/core/ports.ts'
import { openStores, sealOf } from '../../src/runtime/stores/open-store.ts'
import { openStoreAt } from '../../src/runtime/stores/store-address.ts'
import { freshName } from '../support/servers/own-database.ts'
import { CannotStart } from '../support/servers/real-server.ts'
import { startRedisCluster } from '../support/servers/redis-cluster.ts'
import { presentOrSkip, useRealServer } from '../support/servers/servers.ts'

const place = { environment: {}, directory: '/' }

async function openAt(address: string): Promise<Store> {
  const store = await openStoreAt(address, place)
  onTestFinished(() => store.close())
  return store
}

async function putOne(store: Store): Promise<void> {
  await store.commit({ operations: [{ do: 'put', key: 'a', value: Buffer.from('1') }] })
}

test('DO-41 a Redis cluster is reached by the address of one of its nodes', async (context) => {
  const cluster = await startRedisCluster().catch((error: unknown) => {
    if (!(error instanceof CannotStart)) throw error
    const reason = `redis cluster: ${error.message}`
    return presentOrSkip({ kind: 'redis', reason }, context, process.env)
  })
  onTestFinished(() => cluster.close())
  const prefix = encodeURIComponent(`{${freshName()}}:`)
  await putOne(await openAt(`${cluster.url}?cluster=true&prefix=${prefix}`))
  expect(await (await openAt(`${cluster.url}?prefix=${prefix}&cluster=true`)).get('a')).toBeDefined()
})

const NAMED = {
  postgres: (url: string, name: string) => `${url}${url.includes('?') ? '&' : '?'}schema=${name}`,
  redis: (url: string, name: string) => `${url}?prefix=${encodeURIComponent(`{${name}}:`)}`,
  etcd: (url: string, name: string) => `${url.replace(/^http:/, 'etcd:')}?prefix=${name}/`,
} as const

describe.each(['postgres', 'redis', 'etcd'] as const)('addresses on %s', (kind) => {
  const server = useRealServer(kind)

  test('DO-41 stores under two names on one server know nothing of each other', async (context) => {
    const { url } = server(context)
    const [one, two] = [freshName(), freshName()]
    const first = await openAt(NAMED[kind](url, one))
    const second = await openAt(NAMED[kind](url, two))
    await putOne(first)
    expect(await second.get('a')).toBeUndefined()
    expect(await (await openAt(NAMED[kind](url, one))).get('a')).toBeDefined()
  })

  test('DO-41 X-143 a sealed store is readable with its keys, and nothing in it without them', async (context) => {
    const storeAddress = NAMED[kind](server(context).url, freshName())
    const [k1, k2] = [1, 2].map((n) => `k${String(n)}=${randomBytes(32).toString('base64')}`)
    const open = async (storeKeys: string | undefined) => {
      const opened = await openStores(
        { store: storeAddress, seal: sealOf({ storeKeys, compress: false }) },
        place,
      )
      onTestFinished(() => opened.close())
      return openCore({ store: opened.store })
    }
    const secret = 'a day to remember'
    await (await open(k1)).startExecution({ id: 'exec_1', name: 'etl', inputs: { secret } })
    const other = await (await open(`${String(k2)}\n${String(k1)}\n`)).openExecution('exec_1')
    expect(await other.variables.get('pipeline.input.secret')).toBe(secret)
    const below = await (await openAt(storeAddress)).range({ prefix: '' })
    expect(below.entries.length).toBeGreaterThan(3)
    expect(below.entries.filter(({ value }) => Buffer.from(value).includes(secret))).toEqual([])
    const withSecond = await open(k2)
    await expect(withSecond.openExecution('exec_1')).rejects.toMatchObject({ code: 'stores/unknown-key' })
    await expect(open(undefined)).rejects.toMatchObject({ code: 'runtime/store-is-sealed' })
  })
})
