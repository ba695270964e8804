// Many followers of one execution: how long after an event was recorded the last one has it. Over HTTP the server is a
// separate process, and all followers are connections of this one, on the same machine.
import { setMaxListeners } from 'node:events'
import { createConnection } from 'node:net'
import { fileURLToPath } from 'node:url'
import { EventFeeds } from '../../dist/server/http/event-feed.js'
import { silentLogger } from '../../dist/base/logger.js'
import { openHost } from '../../dist/runtime/host.js'
import { openCore, openMemoryStore } from '../../dist/perago-core.js'
import { printTable, quantile } from '../support/figures.mjs'
import { cpuMs, rssMib, startProgram } from '../support/processes.mjs'
import { eventOf } from './backends.mjs'

const EVENTS = 200
const WARM_UP = 20
const OPENED_TOGETHER = 100
const SERVER = fileURLToPath(new URL('./follow-server.mjs', import.meta.url))
const TYPE = 'external.bench.told'

export async function measureFollowers({ bench, followers }) {
  const rows = [
    ['in process', ...(await followInProcess(followers))],
    ['server-sent events over HTTP', ...(await followOverHttp(bench, followers))],
  ]
  console.log(`## ${followers} followers of one execution, ${EVENTS} events, one at a time\n`)
  printTable(
    [
      'how',
      'p50 ms until the last has it',
      'p99 ms',
      'deliveries/s',
      'processor of the server, ms an event',
      'µs a delivery',
      'memory, MiB (in process: its heap)',
      'KiB a follower',
    ],
    rows,
  )
}

async function followInProcess(followers) {
  const store = openMemoryStore()
  const execution = await openCore({ store }).startExecution({ name: 'bench' })
  const opened = await openHost({ store, logger: silentLogger }).executions.open({
    tenant: undefined,
    execution: execution.id,
  })
  const feeds = new EventFeeds()
  const stop = new globalThis.AbortController()
  setMaxListeners(0, stop.signal)
  const all = gather(followers)
  const before = heapMib()
  const following = Array.from({ length: followers }, async () => {
    const { signal } = stop
    try {
      for await (const events of feeds.follow({ key: 'one', execution: opened, after: 0, signal }))
        all.take(events.length)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  })
  // The event of its start.
  await all.reached(1)
  const after = heapMib()
  const cpuBefore = process.cpuUsage()
  const samples = await tellAll(all, async (n) => {
    await execution.events.publish(eventOf(TYPE, n))
  })
  const { user, system } = process.cpuUsage(cpuBefore)
  stop.abort()
  await Promise.all(following)
  await store.close()
  return describe({ samples, followers, cpu: (user + system) / 1_000, before, after })
}

async function followOverHttp(bench, followers) {
  const program = startProgram(process.execPath, ['--expose-gc', SERVER], { ipc: true })
  bench.defer(() => program.close())
  const heard = () => new Promise((resolve) => program.child.once('message', resolve))
  const { port, execution } = await heard()
  const all = gather(followers)
  const before = rssMib(program.pid)
  const sockets = []
  for (let at = 0; at < followers; at += OPENED_TOGETHER) {
    const some = Array.from({ length: Math.min(OPENED_TOGETHER, followers - at) }, () =>
      openFollower({ port, execution, onEvents: all.take }),
    )
    sockets.push(...(await Promise.all(some)))
  }
  await all.reached(1)
  const after = rssMib(program.pid)
  const cpuBefore = cpuMs(program.pid)
  const samples = await tellAll(all, async (n) => {
    const answer = heard()
    program.child.send({ publish: eventOf(TYPE, n) })
    return (await answer).atMs
  })
  const cpu = cpuMs(program.pid) - cpuBefore
  for (const socket of sockets) socket.destroy()
  await program.close()
  return describe({ samples, followers, cpu, before, after })
}

/** `publish` may return when it began, by the machine's clock. */
async function tellAll(all, publish) {
  const samples = []
  for (let n = 0; n < WARM_UP + EVENTS; n += 1) {
    const begun = machineMs()
    const reached = all.reached(n + 2)
    const atMs = (await publish(n)) ?? begun
    const lastMs = await reached
    if (n >= WARM_UP) samples.push(lastMs - atMs)
  }
  return samples
}

/** Counts the events of all followers; none may get an event twice. */
function gather(followers) {
  let got = 0
  let wanted = Infinity
  let resolve
  return {
    take(count) {
      got += count
      if (got >= wanted) resolve(machineMs())
    },
    /** Resolves with the time at which all of them have that many. */
    reached(each) {
      wanted = each * followers
      return new Promise((settle) => {
        resolve = settle
        if (got >= wanted) settle(machineMs())
      })
    },
  }
}

/** A plain connection, because a client library is not part of the server's cost. */
function openFollower({ port, execution, onEvents }) {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1')
    let rest = ''
    socket.setEncoding('latin1')
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      const parts = (rest + chunk).split('\ndata: {"id"')
      // The rest may contain the beginning of the mark.
      rest = parts.at(-1).slice(-MARK_CHARACTERS)
      if (parts.length > 1) onEvents(parts.length - 1)
      resolve(socket)
    })
    socket.write(`GET /executions/${execution}/follow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  })
}

const MARK_CHARACTERS = '\ndata: {"id"'.length - 1

function describe({ samples, followers, cpu, before, after }) {
  const all = WARM_UP + EVENTS
  const seconds = samples.reduce((sum, ms) => sum + ms, 0) / 1_000
  return [
    quantile(samples, 0.5),
    quantile(samples, 0.99),
    (samples.length * followers) / seconds,
    cpu / all,
    (cpu * 1_000) / all / followers,
    after,
    ((after - before) * 1_024) / followers,
  ]
}

function heapMib() {
  globalThis.gc()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** One clock for all processes of the machine. */
function machineMs() {
  return Number(process.hrtime.bigint()) / 1e6
}
