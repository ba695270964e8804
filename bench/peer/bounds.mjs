// What bounds the rows: the same requests to the same servers by a client that does nothing else, and what Node needs alone.
// Nothing is checked, confirmed, synced or compared here, so no worker that keeps its promises can be below.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'undici'
import { printTable, quantile } from '../support/figures.mjs'
import { cpuMs, listenerPid } from '../support/processes.mjs'
import { measureQueueAlone } from '../support/queue-alone.mjs'
import { pathOf } from '../support/contents.mjs'
import { PREFIX } from '../support/datasets.mjs'
import { DATASETS } from './catalog.mjs'

const PUBLICATIONS = 40
const STARTS = 7
const AT_ONCE = { read: 32, write: 64, large: 4 }

export async function showBounds(world, work) {
  const bare = openBare(world.lakefs)
  try {
    await showPublication(world, bare)
    await showFiles(world, bare)
    await showMachine(world, work)
  } finally {
    await bare.close()
  }
}

/** The calls of a publication of one small file, one after the other. */
async function showPublication({ datasets, smallest, lakefs }, bare) {
  const found = new Map()
  const timed = async (what, call) => {
    const startMs = performance.now()
    const answer = await call()
    found.set(what, [...(found.get(what) ?? []), performance.now() - startMs])
    return answer
  }
  const at = `/api/v1/repositories/${smallest.repository}`
  const target = await datasets.branch(smallest, 'bounds')
  let head = smallest.ref
  for (let turn = 0; turn < PUBLICATIONS; turn++) {
    const name = `bounds-${turn}`
    const post = (path, body) => bare.json('POST', at + path, body)
    await timed('create the staging branch', () =>
      bare.send('POST', `${at}/branches`, { name, source: head }),
    )
    await timed('upload 1 KiB', () => bare.upload(`${at}/branches/${name}/objects?path=f`, kib(1, turn)))
    const staged = await timed('commit', () => post(`/branches/${name}/commits`, { message: name }))
    await timed('compare', () => bare.json('GET', `${at}/refs/${head}/diff/${staged.id}?type=two_dot`))
    const merged = await timed('merge', () => post(`/refs/${staged.id}/merge/${target}`, {}))
    await timed('read the branch', () => bare.json('GET', `${at}/refs/${target}/commits?amount=1`))
    head = merged.reference
    await bare.send('DELETE', `${at}/branches/${name}`)
  }
  const medians = [...found].map(([what, samples]) => [what, quantile(samples, 0.5)])
  const whole = medians.reduce((sum, [, ms]) => sum + ms, 0)
  console.log(`A publication of one small file on ${lakefs.kind}, nothing else; median of ${PUBLICATIONS}.\n`)
  printTable(['call', 'ms'], [...medians, ['**together**', whole]])
}

async function showFiles({ bench, datasets, lakefs }, bare) {
  const many = await datasets.create('bounds-many', DATASETS.many)
  const large = await datasets.create('bounds-large', DATASETS.large)
  const branch = await datasets.branch(many, 'bounds')
  const objectAt = ({ repository, ref }, index) =>
    `/api/v1/repositories/${repository}/refs/${ref}/objects?path=${PREFIX}${pathOf(index)}`
  const directory = join(bench.directory, 'bounds')
  mkdirSync(directory)
  const all = (count, atOnce, call) => inLanes(count, atOnce, call)
  const rows = [
    [
      `read 5,000 × 4 KiB, ${AT_ONCE.read} at once`,
      () => all(many.files, AT_ONCE.read, (index) => bare.read(objectAt(many, index))),
    ],
    [
      `write 5,000 × 4 KiB, ${AT_ONCE.write} at once`,
      () =>
        all(many.files, AT_ONCE.write, (index) =>
          bare.upload(
            `/api/v1/repositories/${many.repository}/branches/${branch}/objects?path=${PREFIX}${pathOf(index)}`,
            kib(4, index),
          ),
        ),
    ],
    [
      'read 8 × 128 MiB into files with curl',
      () =>
        all(8, AT_ONCE.large, (index) => bare.save(objectAt(large, index), join(directory, String(index)))),
    ],
    ['MD5 of 1 GiB that is in memory', () => digestGib()],
  ]
  const server = listenerPid(lakefs.url)
  const table = []
  for (const [what, run] of rows) {
    const best = await bestOf(3, server, run)
    table.push([what, best.seconds, best.ownSeconds, best.serverSeconds])
  }
  rmSync(directory, { recursive: true })
  console.log(`Files on ${lakefs.kind}; best of 3.\n`)
  printTable(['', 's', 'processor of the client, s', 'processor of the server, s'], table)
}

async function bestOf(rounds, server, run) {
  let best
  for (let turn = 0; turn < rounds; turn++) {
    const [own, served, startMs] = [cpuMs(process.pid), server && cpuMs(server), performance.now()]
    await run()
    const seconds = (performance.now() - startMs) / 1_000
    const ownSeconds = (cpuMs(process.pid) - own) / 1_000
    const serverSeconds = server && (cpuMs(server) - served) / 1_000
    if (best === undefined || seconds < best.seconds) best = { seconds, ownSeconds, serverSeconds }
  }
  return best
}

/** Conductor with a worker that only claims and completes, and the start of Node without a program. */
async function showMachine(world, { work, workflow, taskType }) {
  const server = listenerPid(world.conductor.url)
  const before = server && cpuMs(server)
  const { tasksPerSecond } = await measureQueueAlone({ ...world, ...work, workflow, taskType })
  const tasks = work.branches * work.chain
  const serverMs = server && (cpuMs(server) - before) / tasks
  const starts = Array.from({ length: STARTS }, () => {
    const startMs = performance.now()
    spawnSync(process.execPath, ['-e', '0'])
    return performance.now() - startMs
  })
  console.log('Conductor and Node alone.\n')
  printTable(
    ['', ''],
    [
      [`claim and complete with ${work.slots} slots, tasks/s`, tasksPerSecond],
      ['processor of Conductor for one, ms', serverMs],
      [`start of Node without a program, ms, median of ${STARTS}`, quantile(starts, 0.5)],
    ],
  )
}

function openBare({ url, keys }) {
  const pool = new Pool(new URL(url).origin, { connections: Math.max(...Object.values(AT_ONCE)) })
  const basic = Buffer.from(`${keys.accessKeyId}:${keys.secretAccessKey}`).toString('base64')
  const authorization = `Basic ${basic}`
  const ask = async (method, path, body, type) => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': type }) }
    const answer = await pool.request({ method, path, headers, body })
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`)
    return answer.body
  }
  const send = async (method, path, body) =>
    (await ask(method, path, body && JSON.stringify(body), 'application/json')).text()
  return {
    send,
    json: async (method, path, body) => JSON.parse(await send(method, path, body)),
    upload: async (path, bytes) => (await ask('POST', path, bytes, 'application/octet-stream')).text(),
    read: async (path) => (await ask('GET', path)).arrayBuffer(),
    /** By curl: nothing here writes as fast. What is secret is not among its arguments. */
    save: async (path, file) => {
      const child = spawn('curl', ['-fsS', '-K', '-', '-o', file, new URL(path, url).href], {
        stdio: ['pipe', 'inherit', 'inherit'],
      })
      child.stdin.end(`header = "authorization: ${authorization}"\n`)
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`curl ${path}: it ended with ${code}`)
    },
    close: () => pool.close(),
  }
}

async function inLanes(count, atOnce, call) {
  const indexes = Array.from({ length: count }, (_, index) => index).values()
  const lane = async () => {
    for (const index of indexes) await call(index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane))
}

function kib(size, seed) {
  return Buffer.alloc(size * 1024, `${seed} ${Math.random()} `)
}

function digestGib() {
  const part = Buffer.alloc(1024 * 1024, 'x')
  const hash = createHash('md5')
  for (let turn = 0; turn < 1024; turn++) hash.update(part)
  return Promise.resolve(hash.digest('hex'))
}
