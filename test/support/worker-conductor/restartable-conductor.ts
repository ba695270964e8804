// A Conductor that can be killed and started again on the same data and port: not the shared one, which others need.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fetchConductorJar } from '../servers/conductor.ts'
import { askJson } from '../servers/http.ts'
import { findJava } from '../servers/java.ts'
import {
  findFreePort,
  makeDirectory,
  removeDirectory,
  startProcess,
  type RunningProcess,
} from '../servers/process.ts'

const JAVA_MAJOR_MIN = 21
const READY_MS = 420_000

export interface RestartableConductor {
  readonly url: string
  /** With SIGKILL: nothing is put in order before. */
  kill(): Promise<void>
  /** Resolves when it answers again. */
  start(): Promise<void>
  close(): Promise<void>
}

/** On a database of a PostgreSQL, which it expects to be lost at any moment: it answers after a second without one. */
export function onPostgres(url: string): readonly string[] {
  const { host, pathname, username, password } = new URL(url)
  return [
    ...['db', 'queue', 'indexing'].map((part) => `--conductor.${part}.type=postgres`),
    ...[
      '--conductor.elasticsearch.version=0',
      `--spring.datasource.url=jdbc:postgresql://${host}${pathname}`,
    ],
    ...[`--spring.datasource.username=${username}`, `--spring.datasource.password=${password}`],
    ...['connection-timeout=1000', 'maximum-pool-size=8'].map((set) => `--spring.datasource.hikari.${set}`),
  ]
}

/** With a database in one file, unless told otherwise. Throws `CannotStart` where this machine lacks what it takes. */
export async function openRestartableConductor(settings?: readonly string[]): Promise<RestartableConductor> {
  const java = await findJava(JAVA_MAJOR_MIN)
  const jar = await fetchConductorJar()
  const directory = makeDirectory('conductor-restarted')
  const database = join(directory, 'conductor.db')
  const port = await findFreePort()
  const url = `http://127.0.0.1:${String(port)}`
  let starts = 0
  let running: RunningProcess | undefined
  const conductor: RestartableConductor = {
    url,
    async start() {
      // The process deletes this directory when it ends; the database is beside it.
      const own = join(directory, `run-${String(++starts)}`)
      const scratch = join(own, 'tmp')
      mkdirSync(scratch, { recursive: true })
      running = await startProcess({
        command: java,
        args: [
          // It lives shortly: a faster start is worth more than faster code.
          ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx768m'],
          ...[`-Djava.io.tmpdir=${scratch}`, `-Duser.home=${own}`, '-jar', jar],
          ...['--server.address=127.0.0.1', `--server.port=${String(port)}`],
          ...(settings ?? [
            `--spring.datasource.url=jdbc:sqlite:${database}?busy_timeout=15000&journal_mode=WAL`,
          ]),
        ],
        directory: own,
        stopSignal: 'SIGKILL',
        readyMs: READY_MS,
        check: async (signal) => {
          const { status } = await askJson(`${url}/api/metadata/taskdefs`, { signal })
          if (status !== 200) throw new Error(`Conductor answered ${String(status)}`)
        },
      })
    },
    async kill() {
      await running?.close()
      running = undefined
    },
    async close() {
      await conductor.kill()
      removeDirectory(directory)
    },
  }
  try {
    await conductor.start()
  } catch (error) {
    await conductor.close()
    throw error
  }
  return conductor
}
