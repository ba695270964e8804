// The two servers of a bench: Conductor, and lakeFS, embedded or the one that the environment names.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort, startProgram, waitFor } from './processes.mjs'

const CONDUCTOR_VERSION = '3.32.3'
const JAVA_MAJOR_MIN = 21
const CONDUCTOR_READY_MS = 420_000
const LAKEFS_READY_MS = 60_000
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const KEYS = { accessKeyId: 'AKIABENCHBENCHBENCH1', secretAccessKey: 'bench-secret-bench-secret-0001' }

/** PERAGO_TEST_CONDUCTOR_URL names a running one; otherwise one is started over a fresh SQLite file. */
export async function startConductor(bench) {
  const named = process.env.PERAGO_TEST_CONDUCTOR_URL
  if (named) return { url: named, pid: undefined }
  const directory = join(bench.directory, 'conductor')
  const scratch = join(directory, 'tmp')
  mkdirSync(scratch, { recursive: true })
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const java = findJava()
  // Its SQLite library is unpacked into Java's temporary directory; a folder is made in the user's home.
  const program = startProgram(
    java,
    [
      ...[`-Djava.io.tmpdir=${scratch}`, `-Duser.home=${directory}`, '-Xmx768m', '-jar', findJar()],
      ...['--server.address=127.0.0.1', `--server.port=${port}`],
    ],
    { cwd: directory },
  )
  bench.defer(() => program.close())
  const isReady = async () => (await fetch(`${url}/api/metadata/taskdefs`)).ok
  await waitFor('start Conductor', isReady, { withinMs: CONDUCTOR_READY_MS, program })
  return { url, pid: program.pid }
}

function findJar() {
  const repository = process.env.PERAGO_TEST_MAVEN_REPOSITORY ?? join(homedir(), '.m2/repository')
  const folder = join(repository, 'org/conductoross/conductor-server', CONDUCTOR_VERSION)
  const jar = join(folder, `conductor-server-${CONDUCTOR_VERSION}-boot.jar`)
  if (existsSync(jar)) return jar
  const get = [
    '-q',
    '-B',
    `-Dmaven.repo.local=${repository}`,
    'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get',
    `-Dartifact=org.conductoross:conductor-server:${CONDUCTOR_VERSION}:jar:boot`,
    '-Dtransitive=false',
  ]
  const { status } = spawnSync('mvn', get, { stdio: 'inherit' })
  if (status !== 0) throw new Error('fetch Conductor through Maven: see above')
  return jar
}

function findJava() {
  const installed = existsSync('/usr/lib/jvm') ? readdirSync('/usr/lib/jvm').sort().reverse() : []
  const homes = [process.env.JAVA_HOME, ...installed.map((name) => join('/usr/lib/jvm', name))]
  const candidates = [...homes.filter(Boolean).map((home) => join(home, 'bin/java')), 'java']
  const found = candidates.find((java) => {
    const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' })
    return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0) >= JAVA_MAJOR_MIN
  })
  if (found === undefined) throw new Error(`start Conductor: no Java ${JAVA_MAJOR_MIN} or newer here`)
  return found
}

/** LAKEFS_ENDPOINT and its keys name a running lakeFS; otherwise the embedded one is started. */
export async function startLakefs(bench, { isEmbedded = false } = {}) {
  const { LAKEFS_ENDPOINT: named, LAKEFS_ACCESS_KEY_ID, LAKEFS_SECRET_ACCESS_KEY } = process.env
  const { LAKEFS_STORAGE_NAMESPACE: namespace = 'local://' } = process.env
  if (named && !isEmbedded) {
    return {
      isEmbedded: false,
      kind: 'the lakeFS of the environment',
      url: named.replace(/\/(api\/v1\/?)?$/, ''),
      keys: { accessKeyId: LAKEFS_ACCESS_KEY_ID, secretAccessKey: LAKEFS_SECRET_ACCESS_KEY },
      namespace,
      pid: undefined,
    }
  }
  const data = mkdtempSync(join(bench.directory, 'lakefs-'))
  const program = startProgram(process.execPath, [MAIN, 'lakefs', '--port', '0', '--data', data], {
    env: {
      PERAGO_EMBEDDED_ACCESS_KEY_ID: KEYS.accessKeyId,
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    },
  })
  bench.defer(() => program.close())
  const readyAt = () => /^ready (\S+)/m.exec(program.said())?.[1]
  const url = await waitFor('start lakeFS', readyAt, { withinMs: LAKEFS_READY_MS, program, lookMs: 20 })
  return {
    ...{ isEmbedded: true, kind: 'the embedded lakeFS', url, keys: KEYS, namespace: 'local://' },
    ...{ pid: program.pid, close: () => program.close() },
  }
}

/** A proxy in its own process that counts a server's requests. */
export async function startCounter(bench, target) {
  const entry = join(dirname(fileURLToPath(import.meta.url)), 'count-requests.mjs')
  const program = startProgram(process.execPath, [entry, target], { ipc: true })
  bench.defer(() => program.close())
  const told = () => new Promise((resolve) => program.child.once('message', resolve))
  const { url } = await told()
  return {
    url,
    /** Requests since the last call, by method and kind of path. */
    async take() {
      const answer = told()
      program.child.send('take')
      return (await answer).counts
    },
    close: () => program.close(),
  }
}
