// A lakeFS that can be killed and started again on its data and port: the real one where it is wanted, else the embedded one.
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildLakefs } from './build-lakefs.ts'
import { LAKEFS, LAKEFS_KEY, LAKEFS_SETTINGS, wantsRealLakefs } from './lakefs.ts'
import { findFreePort, makeDirectory, removeDirectory, startProcess, type RunningProcess } from './process.ts'
import { suiteOf, type SuiteLakefs } from './suite-lakefs.ts'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const READY_MS = 60_000

export interface RestartableLakefs extends SuiteLakefs {
  readonly isReal: boolean
  /** With SIGKILL: nothing is put in order before. */
  kill(): Promise<void>
  /** Resolves when it answers again. */
  start(): Promise<void>
}

/** `embedded: true` for a test that has to be fast. */
export async function openRestartableLakefs({
  embedded = false,
}: { readonly embedded?: boolean } = {}): Promise<RestartableLakefs> {
  const isReal = !embedded && wantsRealLakefs(process.env)
  const directory = makeDirectory('lakefs-restarted')
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const programs = isReal ? await buildLakefs() : ''
  let starts = 0
  let running: RunningProcess | undefined
  const kill = async (): Promise<void> => {
    await running?.close()
    running = undefined
  }
  const server: RestartableLakefs = {
    ...suiteOf({
      ...{ url, ...LAKEFS_KEY, storageNamespace: 'local://perago-tests' },
      async close() {
        await kill()
        removeDirectory(directory)
      },
    }),
    isReal,
    kill,
    async start() {
      // The process deletes this directory when it ends; its data are beside it.
      const own = join(directory, `run-${++starts}`)
      mkdirSync(own)
      running = await startProcess({
        ...(isReal
          ? realProgram(join(programs, 'lakefs'), directory, port)
          : embeddedProgram(directory, port)),
        directory: own,
        stopSignal: 'SIGKILL',
        readyMs: READY_MS,
        check: (signal) => LAKEFS.check({ url, facts: {} }, signal),
      })
    },
  }
  await server.start()
  return server
}

interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

function realProgram(command: string, directory: string, port: number): Program {
  return {
    command,
    args: ['run'],
    environment: {
      ...LAKEFS_SETTINGS,
      HOME: directory,
      LAKEFS_LISTEN_ADDRESS: `127.0.0.1:${port}`,
      LAKEFS_DATABASE_LOCAL_PATH: join(directory, 'kv'),
      LAKEFS_BLOCKSTORE_LOCAL_PATH: join(directory, 'objects'),
      LAKEFS_LOGGING_LEVEL: 'ERROR',
    },
  }
}

function embeddedProgram(directory: string, port: number): Program {
  const { accessKeyId, secretAccessKey } = LAKEFS_KEY
  return {
    command: process.execPath,
    args: [MAIN, 'lakefs', '--port', String(port), '--data', join(directory, 'data'), '--log-level', 'warn'],
    environment: {
      PERAGO_EMBEDDED_ACCESS_KEY_ID: accessKeyId,
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: secretAccessKey,
    },
  }
}
