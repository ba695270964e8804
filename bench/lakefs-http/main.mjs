// Throughput of the embedded lakeFS through our client, compared with a bare handler that writes the same bytes with the
// same syncs: the limit of this machine. Both are separate processes; their runs alternate. Also start-up and memory.
// Does not measure a real lakeFS or a network.
//
//   npm run bench -- lakefs-http [--seconds 3] [--rounds 3] [--large-mib 128]
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { branchName, repositoryName } from '../../dist/base/ids.js'
import { createRepository } from '../../dist/lakefs/administration.js'
import { createLakefsClient } from '../../dist/lakefs/client.js'
import { openLakefsRepo } from '../../dist/lakefs/versioned-repo.js'

const HERE = dirname(fileURLToPath(import.meta.url))
const MAIN = join(HERE, '../../dist/cli/main.js')
const KEYS = { accessKeyId: 'AKIABENCHBENCHBENCH1', secretAccessKey: 'bench-secret-bench-secret-0001' }
const BRANCH = branchName('main')
const MIB = 1024 * 1024
const CHUNK = randomBytes(MIB)

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    'large-mib': { type: 'string', default: '128' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const largeMib = Number(values['large-mib'])
const directory = mkdtempSync(join(tmpdir(), 'perago-bench-http-'))
const processes = []

try {
  await measure()
} finally {
  for (const child of processes) {
    child.kill('SIGKILL')
  }
  rmSync(directory, { recursive: true, force: true })
}

async function measure() {
  const startUps = []
  for (let index = 0; index < 7; index += 1) startUps.push(await timeStartUp(index))
  const lakefs = await startServer([MAIN, 'lakefs', '--port', '0', '--data', join(directory, 'lakefs')])
  const bare = await startServer([join(HERE, 'bare-server.mjs'), mkdtempSync(join(directory, 'bare-'))])
  const ours = await openOurs(lakefs.url)
  const limit = openLimit(bare.url)
  const idleRss = rssMib(lakefs.child.pid)

  const rows = []
  for (const concurrency of [1, 8, 32]) {
    rows.push(
      await compare(
        `upload 1 KiB, ${concurrency} at once`,
        'objects/s',
        (side) => countFor(side.putSmall, concurrency),
        ours,
        limit,
      ),
    )
    rows.push(
      await compare(
        `download 1 KiB, ${concurrency} at once`,
        'objects/s',
        (side) => countFor(side.getSmall, concurrency),
        ours,
        limit,
      ),
    )
  }
  const largeRate = async (work) => {
    const start = performance.now()
    await work()
    return (largeMib * 1000) / (performance.now() - start)
  }
  rows.push(await compare(`upload ${largeMib} MiB`, 'MiB/s', (side) => largeRate(side.putLarge), ours, limit))
  rows.push(
    await compare(`download ${largeMib} MiB`, 'MiB/s', (side) => largeRate(side.getLarge), ours, limit),
  )

  console.log('| what | unit | embedded lakeFS through our client | bare handler | ratio |')
  console.log('|---|---|---:|---:|---:|')
  for (const { what, unit, a, b } of rows) {
    console.log(`| ${what} | ${unit} | ${round(a)} | ${round(b)} | ${(a / b).toFixed(2)} |`)
  }
  console.log('\n| process | value |\n|---|---:|')
  startUps.sort((a, b) => a - b)
  console.log(
    `| start-up to \`ready\`, median of ${startUps.length} (least, most) | ${round(startUps[3])} ms (${round(startUps[0])}, ${round(startUps.at(-1))}) |`,
  )
  console.log(`| RSS of the server, idle | ${round(idleRss)} MiB |`)
  console.log(
    `| RSS of the server after all of this, highest so far | ${round(rssMib(lakefs.child.pid))} MiB, ${round(peakRssMib(lakefs.child.pid))} MiB |`,
  )
  await ours.close()
  await limit.close()
  for (const { child } of [lakefs, bare]) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** Best of the rounds on either side, because other load only makes a run slower. */
async function compare(what, unit, work, ours, limit) {
  let a = 0
  let b = 0
  for (let index = 0; index < rounds; index += 1) {
    a = Math.max(a, await work(ours))
    b = Math.max(b, await work(limit))
  }
  return { what, unit, a, b }
}

async function countFor(work, concurrency) {
  const end = performance.now() + seconds * 1000
  let done = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async (_, lane) => {
      for (let turn = 0; performance.now() < end; turn += 1) {
        await work(lane, turn)
        done += 1
      }
    }),
  )
  return (done * 1000) / (performance.now() - start)
}

async function openOurs(endpoint) {
  const client = createLakefsClient({ endpoint, ...KEYS })
  const name = repositoryName('bench')
  await createRepository(client, { repository: name, storageNamespace: 'local://bench' })
  const repo = openLakefsRepo(client, name)
  const put = (path, body) => repo.write({ branch: BRANCH, path, body })
  const get = async (path) => drain((await repo.read(BRANCH, path)).body)
  // Content differs between objects: a content-addressed store would otherwise write one file.
  const small = () => randomBytes(1024)
  await put('small', { sizeBytes: 1024, open: small })
  return {
    putSmall: (lane, turn) => {
      const bytes = small()
      return put(`s/${lane}/${turn}`, { sizeBytes: 1024, open: () => bytes })
    },
    getSmall: () => get('small'),
    putLarge: () => put('large', { sizeBytes: largeMib * MIB, open: () => largeBody() }),
    getLarge: () => get('large'),
    close: () => client.close(),
  }
}

function openLimit(endpoint) {
  const pool = new Pool(endpoint, { connections: 64 })
  const put = async (path, size, body) => {
    const answer = await pool.request({
      method: 'PUT',
      path,
      body,
      headers: { 'content-length': String(size) },
    })
    await answer.body.dump()
    if (answer.statusCode !== 201) throw new Error(`bare server answered ${answer.statusCode}`)
  }
  const get = async (path) => drain((await pool.request({ method: 'GET', path })).body)
  let first
  return {
    putSmall: (lane, turn) => put(`/s-${lane}-${turn}`, 1024, randomBytes(1024)),
    getSmall: async () => {
      first ??= put('/small', 1024, randomBytes(1024))
      await first
      await get('/small')
    },
    putLarge: () => put('/large', largeMib * MIB, largeBody()),
    getLarge: () => get('/large'),
    close: () => pool.close(),
  }
}

/** Never the same bytes twice, and not all in memory. */
function largeBody() {
  const salt = randomBytes(16)
  let left = largeMib
  return new Readable({
    read() {
      if (left === 0) return void this.push(null)
      left -= 1
      const chunk = Buffer.from(CHUNK)
      salt.copy(chunk, left)
      this.push(chunk)
    },
  })
}

async function drain(stream) {
  let bytes = 0
  for await (const chunk of stream) bytes += chunk.length
  return bytes
}

async function timeStartUp(index) {
  const start = performance.now()
  const { child } = await startServer([
    MAIN,
    'lakefs',
    '--port',
    '0',
    '--data',
    join(directory, `start-${index % 2}`),
  ])
  const ms = performance.now() - start
  child.kill('SIGTERM')
  await once(child, 'exit')
  return ms
}

async function startServer(args) {
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      PERAGO_EMBEDDED_ACCESS_KEY_ID: KEYS.accessKeyId,
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  processes.push(child)
  for await (const chunk of child.stdout) {
    const ready = /^ready (\S+)/.exec(chunk.toString())
    if (ready !== null) {
      child.stdout.resume()
      return { child, url: ready[1] }
    }
  }
  throw new Error(`${args[0]} ended before it was ready`)
}

function rssMib(pid) {
  return statusKib(pid, 'VmRSS') / 1024
}

function peakRssMib(pid) {
  return statusKib(pid, 'VmHWM') / 1024
}

function statusKib(pid, field) {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return line === null ? Number.NaN : Number(line[1])
}

function round(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
