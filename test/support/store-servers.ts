// The servers that stores under test live on, one of each kind for the whole run: a test file that shares its modules
// with others cannot start them for itself. Each test has a schema or prefix of its own on them.
import type { TestProject } from 'vitest/node'
import type { AbsentServer, Endpoint } from './servers/real-server.ts'
import { openRealServer, RECIPES } from './servers/servers.ts'

export const STORE_SERVERS = ['postgres', 'redis', 'etcd'] as const
export type StoreServer = (typeof STORE_SERVERS)[number]

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined unless PERAGO_TEST_STORES=all. */
    readonly storeServers: Readonly<Record<StoreServer, Endpoint | AbsentServer>> | undefined
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.PERAGO_TEST_STORES !== 'all') {
    project.provide('storeServers', undefined)
    return undefined
  }
  const opened = await Promise.all(STORE_SERVERS.map((kind) => openRealServer(RECIPES[kind])))
  const provided = opened.map((server) =>
    'close' in server ? { url: server.url, facts: server.facts } : server,
  )
  const [postgres, redis, etcd] = provided
  if (postgres === undefined || redis === undefined || etcd === undefined)
    throw new Error('a kind is missing')
  project.provide('storeServers', { postgres, redis, etcd })
  return async () => {
    await Promise.all(opened.map(async (server) => ('close' in server ? server.close() : undefined)))
  }
}
