// Goal: whenever the engine is killed, no completion that a worker was told of is lost or run again, everything ends, and
// after the last kill all executions go on within 30 seconds.
// Method: a process with engines over SQLite and PostgreSQL keeps 100 executions running in each. SIGKILL at random moments, also while
// it starts; the next process has loaded its code by then. Between two of them engines die alone, cut off from their store at random
// moments while the workers live on. PERAGO_TEST_KILLS=1000 kills more often. `npm run build` comes first.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import type { Graph, TaskUnit } from '../../src/engine/graph/graph.ts'
import { openEngine } from '../../src/engine/host/open-engine.ts'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import type { WorkflowId } from '../../src/worker/ports.ts'
import { freshName } from '../support/servers/own-database.ts'
import type { AbsentServer, RealServer } from '../support/servers/real-server.ts'
import { openRealServer, presentOrSkip, RECIPES } from '../support/servers/servers.ts'

/** Of the engine over SQLite. */
const KILLS = Number(process.env['PERAGO_TEST_KILLS'] ?? 200)
/** In each process, before it is killed itself. Taking over from PostgreSQL lasts six times as long. */
const DEATHS_EACH = { sqlite: 6, postgres: 1 }
const PROCESSES = Math.ceil(KILLS / (DEATHS_EACH.sqlite + 1))
const RUNNING = 100
const WORKERS = 4
/** Time between two processes that last until each execution has progressed: attempts of killed workers run out of time first. */
const LONG_EVERY_MS = 6_000
const LONG_MAX_MS = 4_000
const LIFE_MS = 60
const STARTING_MS = 200
const PROGRESS_MAX_MS = 30_000
const HOST = fileURLToPath(new URL('../support/engine/kill-host.mjs', import.meta.url))

const UNITS: Readonly<Record<string, readonly string[]>> = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }

const graph: Graph = {
  name: 'killed',
  version: 1,
  units: Object.entries(UNITS).map(([taskReferenceName, after]): TaskUnit => ({
    ...{ type: 'SIMPLE', name: 'step', taskReferenceName, after },
    inputParameters: {},
  })),
  inputTemplate: {},
  outputParameters: undefined,
  restartable: true,
  timeoutSeconds: 0,
  timeoutPolicy: 'ALERT_ONLY',
}

type Address = { readonly ledger: string } & (
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }
)

const BOUND_MS = 300_000 + KILLS * 3_000
const directory = mkdtempSync(join(tmpdir(), 'perago-engine-kills-'))
let postgres: RealServer | AbsentServer
let addresses: readonly Address[]

beforeAll(async () => {
  postgres = await openRealServer(RECIPES.postgres)
  const at = (name: string): string => join(directory, name)
  addresses = [
    { kind: 'sqlite', file: at('engine.db'), ledger: at('sqlite.ledger') },
    ...('url' in postgres
      ? [{ kind: 'postgres' as const, url: postgres.url, schema: freshName(), ledger: at('postgres.ledger') }]
      : []),
  ]
  await liveAndDie()
}, BOUND_MS)

afterAll(async () => {
  rmSync(directory, { recursive: true })
  if ('close' in postgres) await postgres.close()
})

test('X-05 EN-407 killed over SQLite: no acknowledged completion is lost or run again, all executions end', async () => {
  await requireExact('sqlite')
}, 60_000)

test('EN-407 killed over PostgreSQL: no acknowledged completion is lost or run again, all executions end', async (context) => {
  presentOrSkip(postgres, context, process.env)
  await requireExact('postgres')
}, 60_000)

test('X-114 EN-850 each kill is followed by a take-over without waiting for a lease, the last by progress of all in 30 s', () => {
  for (const { kind, ledger } of addresses) {
    const found = readLedger(ledger)
    const lives = livesOf(found)
    // A process that is killed while it starts takes nothing over.
    expect(lives.length).toBeGreaterThanOrEqual((PROCESSES * (DEATHS_EACH[kind] + 1)) / 2)
    const progress = lives.flatMap(({ open, sinceMs }) =>
      open.map((id) => firstAfter(found, id, sinceMs) - sinceMs),
    )
    const takeOvers = lives.map(({ atMs, sinceMs }) => atMs - sinceMs)
    process.stderr.write(
      `${kind}: ${describe(found)}; ms to take over: ${spread(takeOvers)}; to progress: ${spread(progress)}\n`,
    )
    // Only after the last: while more kills and new executions come, some wait longer for their turn.
    const last = lives.at(-1)!
    expect(last.open.length).toBeGreaterThanOrEqual(RUNNING / 2)
    const afterLast = last.open.map((id) => firstAfter(found, id, last.sinceMs) - last.sinceMs)
    expect(Math.max(...afterLast)).toBeLessThan(PROGRESS_MAX_MS)
    expect(Math.max(...takeOvers)).toBeLessThan(PROGRESS_MAX_MS)
    // A lease is 9 seconds.
    expect(quantile(takeOvers, 0.5)).toBeLessThan(5_000)
  }
})

async function liveAndDie(): Promise<void> {
  let longAtMs = Date.now()
  let host = startHost()
  for (let kill = 0; kill < PROCESSES; kill += 1) {
    const next = startHost()
    host.go({ keepOpen: RUNNING })
    // One in ten is killed while it starts or takes over.
    if (Math.random() < 0.1) await wait(Math.random() * STARTING_MS)
    else {
      await host.ready
      expect(host.process.exitCode).toBe(null)
      if (Date.now() - longAtMs < LONG_EVERY_MS) await wait(Math.random() * LIFE_MS)
      else {
        await untilAllProgressed()
        longAtMs = Date.now()
      }
    }
    host.process.kill('SIGKILL')
    await host.ended
    for (const { ledger } of addresses) appendFileSync(ledger, `${Date.now()} KILL\n`)
    host = next
  }
  host.go({ keepOpen: 0 })
  await host.ended
  expect(host.process.exitCode).toBe(0)
}

async function untilAllProgressed(): Promise<void> {
  const isDone = ({ ledger }: Address): boolean => {
    const found = readLedger(ledger)
    const life = livesOf(found).at(-1)
    return life === undefined || life.open.every((id) => firstAfter(found, id, life.sinceMs) < Infinity)
  }
  const endMs = Date.now() + LONG_MAX_MS
  while (!addresses.every(isDone) && Date.now() < endMs) await wait(100)
}

async function requireExact(kind: Address['kind']): Promise<void> {
  const address = addresses.find((each) => each.kind === kind)!
  const ledger = readLedger(address.ledger)
  requireNoneRunAgain(ledger)
  await requireAllThere(address, ledger)
}

interface Line {
  readonly atMs: number
  readonly what: string
  readonly execution: string
  readonly unit: string
  readonly task: string
}

interface Ledger {
  readonly lines: readonly Line[]
  /** By execution: when something happened in it, in order. */
  readonly times: ReadonlyMap<string, readonly number[]>
}

const OF_EXECUTIONS = ['START', 'RUN', 'ACK']

function readLedger(path: string): Ledger {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    // Of the last line there may be only a part.
    .slice(0, -1)
    .map((line) => {
      const [at, what = '', execution = '', unit = '', task = ''] = line.split(' ')
      return { atMs: Number(at), what, execution, unit, task }
    })
  const times = new Map<string, number[]>()
  for (const { what, execution, atMs } of lines) {
    if (!OF_EXECUTIONS.includes(what)) continue
    const known = times.get(execution)
    if (known === undefined) times.set(execution, [atMs])
    else known.push(atMs)
  }
  return { lines, times }
}

/** An engine that took executions over. */
interface Life {
  readonly atMs: number
  readonly open: readonly string[]
  /** When the engine before it died. */
  readonly sinceMs: number
}

function livesOf({ lines }: Ledger): readonly Life[] {
  const lives: Life[] = []
  let sinceMs = 0
  for (const { what, atMs, execution } of lines) {
    // Of those that took nothing over the first counts.
    if ((what === 'KILL' || what === 'DIE') && sinceMs === 0) sinceMs = atMs
    if (what !== 'LIFE') continue
    if (sinceMs > 0) lives.push({ atMs, sinceMs, open: execution.split(',').filter((id) => id !== '') })
    sinceMs = 0
  }
  return lives
}

function firstAfter({ times }: Ledger, id: string, sinceMs: number): number {
  return times.get(id)?.find((atMs) => atMs >= sinceMs) ?? Infinity
}

function describe({ lines, times }: Ledger): string {
  const of = (which: string): number => lines.filter(({ what }) => what === which).length
  const killed = `${of('KILL')} processes killed, ${of('DIE')} engines cut off`
  return `${killed}, ${times.size} executions, ${of('RUN')} attempts, ${of('ACK')} completions acknowledged`
}

function spread(values: readonly number[]): string {
  return `p50 ${quantile(values, 0.5)}, most ${quantile(values, 1)}`
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

function requireNoneRunAgain({ lines }: Ledger): void {
  const acknowledged = new Set<string>()
  for (const { what, execution, unit } of lines) {
    const one = `${execution} ${unit}`
    if (what === 'RUN')
      expect(acknowledged.has(one), `${one} ran after its completion was acknowledged`).toBe(false)
    if (what === 'ACK') acknowledged.add(one)
  }
  expect(acknowledged.size).toBeGreaterThan(RUNNING)
}

/** What was acknowledged is stored as it was acknowledged, and every unit completed once. */
async function requireAllThere(address: Address, { lines, times }: Ledger): Promise<void> {
  const store = await openStore(address)
  const engine = await openEngine({ store })
  onTestFinished(async () => {
    await engine.close()
    await store.close()
  })
  await expect.poll(() => engine.isRunning(), { timeout: 30_000 }).toBe(true)
  // Also those that were started just before a kill, whose start nobody could write down.
  const started = [...times.keys()]
  expect(started.length).toBeGreaterThanOrEqual(RUNNING)
  const completed = new Set<string>()
  for (const id of started) {
    const found = await engine.control.readWorkflow(id as WorkflowId)
    expect(found?.status, `execution ${id}`).toBe('COMPLETED')
    const ended = found!.tasks.filter(({ status }) => status === 'COMPLETED')
    expect(ended.map(({ referenceTaskName }) => referenceTaskName).sort()).toEqual(Object.keys(UNITS))
    for (const { taskId } of ended) completed.add(taskId)
  }
  for (const { what, task } of lines) if (what === 'ACK') expect(completed.has(task), task).toBe(true)
}

interface Host {
  readonly process: ChildProcess
  readonly go: (order: { readonly keepOpen: number }) => void
  /** It runs everything, or was killed before. */
  readonly ready: Promise<void>
  readonly ended: Promise<unknown>
}

function startHost(): Host {
  const order = { stores: addresses, graph, workers: WORKERS, deaths: DEATHS_EACH, lifeMs: LIFE_MS }
  const child = spawn(process.execPath, [HOST, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => void child.kill('SIGKILL'))
  // It may be killed before it reads.
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close')
  const ready = new Promise<void>((resolve) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (addresses.every(({ kind }) => text.includes(`${kind} ready`))) resolve()
    })
    child.on('close', () => resolve())
  })
  const go = (told: { readonly keepOpen: number }): void => void child.stdin.write(JSON.stringify(told))
  return { process: child, go, ready, ended }
}

async function openStore(address: Address): Promise<Store> {
  return address.kind === 'sqlite' ? openSqliteStore({ file: address.file }) : openPostgresStore(address)
}
