// What branch, commit, merge and diff cost on small and large repositories, in the storage engine of the embedded lakeFS
// (no HTTP): how each grows with the number of objects.
//
//   npm run bench -- lakefs-scale [--sizes 1000,100000,1000000] [--rounds 50] [--dir DIR]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { openEngine } from '../dist/embedded/lakefs/engine/open-engine.js'

const REPOSITORY = 'scale'
const OPERATIONS = ['branch', 'commit of one file', 'merge of one file', 'two-dot diff of one file']
/** The most that one transaction of the engine takes. */
const FILL_BATCH = 512

/** Rows `{ operation, objects, p50Ms, p95Ms, ratio }`; `ratio` is to the smallest size, which comes first. */
export async function run({ sizes = [1000, 100_000, 1_000_000], rounds = 50, dir, log = () => {} } = {}) {
  const parent = dir ?? mkdtempSync(join(tmpdir(), 'perago-scale-'))
  const stores = []
  try {
    for (const objects of sizes) {
      const engine = await openEngine({ dataDir: join(parent, String(objects)) })
      stores.push({ objects, engine, samples: Object.fromEntries(OPERATIONS.map((name) => [name, []])) })
      const filled = await fill(engine, objects)
      log(
        `${objects} objects: staged in ${filled.fillMs.toFixed(0)} ms, committed in ${filled.commitMs.toFixed(0)} ms`,
      )
    }
    // All sizes within each round, so that other load slows all of them.
    const warmUp = Math.ceil(rounds / 5)
    for (let round = 0; round < warmUp + rounds; round += 1) {
      for (const { objects, engine, samples } of stores) {
        const times = await measureRound(engine, objects, round)
        if (round >= warmUp) for (const name of OPERATIONS) samples[name].push(times[name])
      }
    }
  } finally {
    for (const { engine } of stores) await engine.close()
    if (dir === undefined) rmSync(parent, { recursive: true, force: true })
  }
  return OPERATIONS.flatMap((operation) => {
    const medians = stores.map(({ samples }) => quantile(samples[operation], 0.5))
    return stores.map(({ objects, samples }, index) => ({
      operation,
      objects,
      p50Ms: medians[index],
      p95Ms: quantile(samples[operation], 0.95),
      ratio: medians[index] / medians[0],
    }))
  })
}

async function fill(engine, objects) {
  await engine.createRepository({
    name: REPOSITORY,
    storageNamespace: 'local://scale',
    defaultBranch: 'main',
  })
  const fillMs = await timed(async () => {
    for (let from = 0; from < objects; from += FILL_BATCH) {
      const count = Math.min(FILL_BATCH, objects - from)
      await Promise.all(
        Array.from({ length: count }, (_, index) => put(engine, 'main', from + index, 'filled')),
      )
    }
  })
  const commitMs = await timed(() => commit(engine, 'main', 'filled'))
  return { fillMs, commitMs }
}

/** Each round changes another file on a new branch and merges it, as publishing does. */
async function measureRound(engine, objects, round) {
  const branch = `round_${round}`
  // Far apart, and the same files in every run.
  const file = (round * 7919 * 31) % objects
  const before = engine.getBranch(REPOSITORY, 'main').commitId
  const created = { repository: REPOSITORY, name: branch, source: 'main', hidden: false }
  const branchMs = await timed(() => engine.createBranch(created))
  await put(engine, branch, file, `round ${round}`)
  const commitMs = await timed(() => commit(engine, branch, branch))
  const merged = {
    repository: REPOSITORY,
    source: branch,
    destination: 'main',
    committer: 'bench',
    metadata: {},
  }
  const mergeMs = await timed(() => engine.merge({ ...merged, squash: false, allowEmpty: false }))
  const compared = { repository: REPOSITORY, left: before, right: 'main', type: 'two_dot', amount: 1000 }
  const diffMs = await timed(() => {
    const { items } = engine.diffRefs(compared)
    if (items.length !== 1) throw new Error(`the diff shows ${items.length} files, not 1`)
  })
  return Object.fromEntries(
    OPERATIONS.map((name, index) => [name, [branchMs, commitMs, mergeMs, diffMs][index]]),
  )
}

function put(engine, branch, index, content) {
  const checksum = Buffer.from(`${index} ${content}`).toString('hex').padEnd(32, '0').slice(0, 32)
  return engine.putEntry({
    repository: REPOSITORY,
    branch,
    ifAbsent: false,
    entry: {
      path: `data/year=${2000 + (index % 20)}/part-${String(index).padStart(8, '0')}.parquet`,
      // No bytes are needed: the engine is asked about entries only.
      physicalAddress: `local://scale/data/${String(index).padStart(64, '0')}`,
      checksum,
      sizeBytes: 1024,
      modifiedAt: 1_700_000_000,
      contentType: 'application/octet-stream',
      metadata: {},
    },
  })
}

function commit(engine, branch, message) {
  return engine.commit({
    repository: REPOSITORY,
    branch,
    committer: 'bench',
    message,
    metadata: {},
    allowEmpty: false,
  })
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function quantile(samples, share) {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

function print(rows) {
  console.log('| operation | objects | p50 ms | p95 ms | to the smallest |')
  console.log('|---|---|---|---|---|')
  for (const { operation, objects, p50Ms, p95Ms, ratio } of rows) {
    console.log(
      `| ${operation} | ${objects} | ${p50Ms.toFixed(2)} | ${p95Ms.toFixed(2)} | ${ratio.toFixed(2)} × |`,
    )
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { sizes: { type: 'string' }, rounds: { type: 'string' }, dir: { type: 'string' } },
  })
  const rows = await run({
    ...(values.sizes === undefined ? {} : { sizes: values.sizes.split(',').map(Number) }),
    ...(values.rounds === undefined ? {} : { rounds: Number(values.rounds) }),
    ...(values.dir === undefined ? {} : { dir: values.dir }),
    log: (line) => console.log(`${line}\n`),
  })
  print(rows)
}
