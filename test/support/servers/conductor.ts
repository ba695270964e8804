import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { askJson } from './http.ts'
import { findJava } from './java.ts'
import {
  findFreePort,
  findProgram,
  makeDirectory,
  removeDirectory,
  runProgram,
  startProcess,
} from './process.ts'
import { CannotStart, type ServerRecipe, type StartedServer } from './real-server.ts'

const VERSION = '3.32.3'
const JAVA_MAJOR_MIN = 21
/** Seen: 13 to 30 s on two idle cores, over three minutes on two that had ten times their work. */
const READY_MS = 420_000
/** The jar weighs 437 MiB. */
const FETCH_MS = 600_000
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'

export const CONDUCTOR: ServerRecipe = {
  kind: 'conductor',
  variable: 'PERAGO_TEST_CONDUCTOR_URL',
  readEnvironment: ({ PERAGO_TEST_CONDUCTOR_URL: url }) => (url ? { url, facts: {} } : undefined),
  // Not /actuator/health: that one is DOWN on a stock server, because it looks for a search backend that is not there.
  check: async ({ url }, signal) => {
    const { status } = await askJson(`${url}/api/metadata/taskdefs`, { signal })
    if (status !== 200) throw new Error(`Conductor answered ${String(status)}`)
  },
  container: {
    image: `conductoross/conductor:${VERSION}`,
    port: 8080,
    environment: {},
    endpointAt: (host, port) => ({ url: `http://${host}:${String(port)}`, facts: {} }),
  },
  start: startConductor,
  startsAs: 'native',
  readyMs: READY_MS,
}

/** The server's jar in Maven's local repository, fetched when it is not there yet. */
export async function fetchConductorJar(): Promise<string> {
  const repository = process.env.PERAGO_TEST_MAVEN_REPOSITORY ?? join(homedir(), '.m2', 'repository')
  const artifact = [
    'org',
    'conductoross',
    'conductor-server',
    VERSION,
    `conductor-server-${VERSION}-boot.jar`,
  ]
  const jar = join(repository, ...artifact)
  if (existsSync(jar)) return jar
  const maven = findProgram('mvn', [], 'apt-get install maven')
  const coordinates = `org.conductoross:conductor-server:${VERSION}:jar:boot`
  const get = [`${MAVEN_PLUGIN}:get`, `-Dartifact=${coordinates}`, '-Dtransitive=false']
  try {
    await runProgram(maven, ['-q', '-B', `-Dmaven.repo.local=${repository}`, ...get], { timeoutMs: FETCH_MS })
  } catch (error) {
    throw new CannotStart(
      `fetch ${coordinates} through Maven: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return jar
}

async function startConductor(): Promise<StartedServer> {
  const java = await findJava(JAVA_MAJOR_MIN)
  const jar = await fetchConductorJar()
  const directory = makeDirectory('conductor')
  try {
    // Its SQLite library is unpacked into Java's temporary directory and stays there after the end; a folder for
    // payloads is made in the user's home.
    const scratch = join(directory, 'tmp')
    mkdirSync(scratch)
    const port = await findFreePort()
    const url = `http://127.0.0.1:${String(port)}`
    const running = await startProcess({
      command: java,
      args: [
        ...[`-Djava.io.tmpdir=${scratch}`, `-Duser.home=${directory}`, '-Xmx768m', '-jar', jar],
        // The stock configuration keeps everything in one SQLite file below the working directory.
        ...['--server.address=127.0.0.1', `--server.port=${String(port)}`],
      ],
      directory,
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      check: (signal) => CONDUCTOR.check({ url, facts: {} }, signal),
    })
    return { url, facts: {}, directory, close: running.close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}
