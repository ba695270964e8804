import { join } from 'node:path'
import { buildLakefs } from './build-lakefs.ts'
import { askJson } from './http.ts'
import { findFreePort, makeDirectory, removeDirectory, startProcess } from './process.ts'
import type { Endpoint, ServerRecipe, StartedServer } from './real-server.ts'

const READY_MS = 60_000
export const LAKEFS_KEY = { accessKeyId: 'AKIAPERAGOTESTS', secretAccessKey: 'perago-tests-secret' }

/** Settings of our lakeFS, in a container and as a program. */
export const LAKEFS_SETTINGS = {
  LAKEFS_DATABASE_TYPE: 'local',
  LAKEFS_BLOCKSTORE_TYPE: 'local',
  LAKEFS_AUTH_ENCRYPT_SECRET_KEY: 'perago-tests',
  LAKEFS_INSTALLATION_USER_NAME: 'admin',
  LAKEFS_INSTALLATION_ACCESS_KEY_ID: LAKEFS_KEY.accessKeyId,
  LAKEFS_INSTALLATION_SECRET_ACCESS_KEY: LAKEFS_KEY.secretAccessKey,
  LAKEFS_STATS_ENABLED: 'false',
}

/**
 * `CI=true` or `PERAGO_TEST_LAKEFS=real` builds the real server from its Go module. Without these, and where neither the
 * environment nor a container gives one, the embedded server stands in.
 */
export const LAKEFS: ServerRecipe = {
  kind: 'lakefs',
  variable: 'LAKEFS_ENDPOINT',
  readEnvironment: (environment) => {
    const url = environment.LAKEFS_ENDPOINT
    if (!url) return undefined
    const facts = {
      accessKeyId: environment.LAKEFS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.LAKEFS_SECRET_ACCESS_KEY ?? '',
      storageNamespace: environment.LAKEFS_STORAGE_NAMESPACE ?? '',
    }
    return { url: url.replace(/\/(api\/v1\/?)?$/, ''), facts }
  },
  check: async ({ url }, signal) => {
    const { status } = await askJson(`${url}/api/v1/healthcheck`, { signal })
    if (status !== 204) throw new Error(`lakeFS answered ${String(status)}`)
  },
  container: {
    image: 'treeverse/lakefs:1.84.0',
    port: 8000,
    environment: LAKEFS_SETTINGS,
    endpointAt: (host, port) => endpoint(`http://${host}:${String(port)}`),
  },
  start: () => (wantsRealLakefs(process.env) ? startReal() : startEmbedded()),
  startsAs: wantsRealLakefs(process.env) ? 'native' : 'embedded',
  readyMs: READY_MS,
}

/** Whether a test that can do with either lakeFS is to have the real one. */
export function wantsRealLakefs({ CI, LAKEFS_ENDPOINT, PERAGO_TEST_LAKEFS }: NodeJS.ProcessEnv): boolean {
  return CI === 'true' || PERAGO_TEST_LAKEFS === 'real' || Boolean(LAKEFS_ENDPOINT)
}

async function startReal(): Promise<StartedServer> {
  const programs = await buildLakefs()
  const directory = makeDirectory('lakefs')
  try {
    const port = await findFreePort()
    const started = endpoint(`http://127.0.0.1:${String(port)}`)
    const { close } = await startProcess({
      command: join(programs, 'lakefs'),
      args: ['run'],
      directory,
      environment: {
        ...LAKEFS_SETTINGS,
        HOME: directory,
        LAKEFS_LISTEN_ADDRESS: `127.0.0.1:${String(port)}`,
        LAKEFS_DATABASE_LOCAL_PATH: join(directory, 'kv'),
        LAKEFS_BLOCKSTORE_LOCAL_PATH: join(directory, 'objects'),
        LAKEFS_LOGGING_LEVEL: 'ERROR',
      },
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      check: (signal) => LAKEFS.check(started, signal),
    })
    return { ...started, directory, close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}

async function startEmbedded(): Promise<StartedServer> {
  // Loaded only here: the tests of the other servers need none of it.
  const { startEmbeddedLakefs } = await import('../../../src/embedded/lakefs/server.ts')
  const directory = makeDirectory('lakefs')
  try {
    const server = await startEmbeddedLakefs({ dataDir: directory, ...LAKEFS_KEY })
    const close = async (): Promise<void> => {
      await server.close()
      removeDirectory(directory)
    }
    return { ...endpoint(server.url), directory, close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}

function endpoint(url: string): Endpoint {
  return { url, facts: { ...LAKEFS_KEY, storageNamespace: 'local://perago-tests' } }
}
