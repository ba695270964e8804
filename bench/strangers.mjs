// Somebody else commits to the branch at a random moment of a one-step publication; half of the branches carry an abandoned
// publication already. Counted are commits that were acknowledged and are afterwards neither in the history of the branch nor
// under a tag. A worker process, Conductor, and lakeFS (embedded, or the one that LAKEFS_ENDPOINT names), all on this machine.
//
//   npm run bench -- strangers [--rounds 1000] [--slots 4] [--only hard,soft,peer]
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { branchName } from '../dist/base/ids.js'
import { FENCE_FILE, FENCE_PATH } from '../dist/publication/fence-file.js'
import { findPeerPython } from './peer/install.mjs'
import { chainOf, inputOf } from './peer/rows.mjs'
import { COLD, openOurs, openPeer, startWorker } from './peer/workers.mjs'
import { openDatasets } from './support/datasets.mjs'
import { printTable } from './support/figures.mjs'
import { openBench } from './support/processes.mjs'
import { startConductor, startLakefs } from './support/servers.mjs'
import { openConductorRequests } from './support/workflows.mjs'

const MAIN = branchName('main')
const HISTORY_MAX = 50
/** About as long as a task takes, from the request to its end. */
const MOMENT_MS_MAX = 400

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1000' },
    slots: { type: 'string', default: '4' },
    only: { type: 'string', default: 'hard,soft,peer' },
  },
})
const [rounds, slots] = [Number(values.rounds), Number(values.slots)]
const wanted = values.only.split(',')

const bench = openBench('strangers')
try {
  await measure()
} finally {
  await bench.close()
}

async function measure() {
  const lakefs = await startLakefs(bench)
  const conductor = await startConductor(bench)
  const requests = openConductorRequests(conductor.url)
  const datasets = await openDatasets(lakefs)
  bench.defer(() => datasets.close())
  const world = { lakefs, conductor, requests, datasets, slots, task: 'write' }
  const python = wanted.includes('peer') ? await findPeerPython() : undefined
  const sides = [
    ...(wanted.includes('hard')
      ? [{ name: 'ours, hard fence', side: openOurs(bench, COLD), isFenced: true }]
      : []),
    ...(wanted.includes('soft')
      ? [{ name: 'ours, soft fence', side: openOurs(bench, COLD), isFenced: false }]
      : []),
    ...(python === undefined
      ? []
      : [{ name: 'the Python worker', side: openPeer(bench, python), isFenced: false }]),
  ]
  const rows = []
  for (const one of sides) rows.push(await measureSide(world, one))
  console.log(`lakeFS: ${lakefs.kind}; Conductor: real; ${slots} branches at a time\n`)
  printTable(['worker', 'acknowledged commits of others', 'lost', 'percent'], rows)
}

async function measureSide(world, { name, side, isFenced }) {
  const { requests, datasets } = world
  const taskDefs = await side.taskDefs(world)
  // A refused task of the Python worker is tried again after a minute, and refused again; ours ends at once.
  await requests.registerTasks(side.isOurs === true ? taskDefs : taskDefs.map(withoutRetries))
  await requests.registerChain(chainOf(side, 'write', 1), side.taskOf('write'), 1)
  const data = await datasets.create(isFenced ? 'hard' : side.isOurs === true ? 'soft' : 'peer', {
    files: 3,
    sizeBytes: 256,
  })
  const start = isFenced ? { ...data, ref: await installFence(data) } : data
  const worker = await startWorker(bench, side, world)
  let [acknowledged, lost] = [0, 0]
  const indexes = Array.from({ length: rounds }, (_, index) => index).values()
  const lane = async () => {
    for (const index of indexes) {
      const outcome = await playRound(world, { side, data: start, index })
      if (outcome === 'not acknowledged') continue
      acknowledged++
      if (outcome === 'lost') lost++
    }
  }
  await Promise.all(Array.from({ length: slots }, lane))
  await worker.close()
  return [name, acknowledged, lost, ((100 * lost) / Math.max(1, acknowledged)).toFixed(2)]
}

function withoutRetries(taskDef) {
  return { ...taskDef, retryCount: 0 }
}

async function playRound({ requests, datasets }, { side, data, index }) {
  const branch = await datasets.branch(data, `strangers-${side.isOurs === true ? 'ours' : 'peer'}-${index}`)
  // What a worker published that died before it said so.
  if (index % 2 === 0) await commitFile(data.repo, branch, 'data/abandoned', `abandoned ${index}`)
  const input = inputOf({ data, change: 'one' }, { branch, seed: `strangers ${index}`, ref: data.ref })
  const publishing = requests.start(chainOf(side, 'write', 1), input, side).then((id) => requests.ended(id))
  const [foreign] = await Promise.all([
    wait(Math.random() * MOMENT_MS_MAX).then(() =>
      commitFile(data.repo, branch, `strangers/${index}`, `of a stranger ${index}`),
    ),
    // Refused, as it should be where somebody else was quicker.
    publishing.catch(() => undefined),
  ])
  if (foreign === undefined) return 'not acknowledged'
  return (await isKept(data.repo, branch, foreign)) ? 'kept' : 'lost'
}

/** `undefined`: it was not acknowledged. */
async function commitFile(repo, branch, path, text) {
  const bytes = Buffer.from(text)
  try {
    await repo.write({ branch, path, body: { sizeBytes: bytes.length, open: () => bytes } })
    const outcome = await repo.commit({
      branch,
      message: path,
      metadata: { salt: randomBytes(8).toString('hex') },
    })
    return outcome.committed ? outcome.commit.ref : undefined
  } catch {
    return undefined
  }
}

async function isKept(repo, branch, ref) {
  for await (const commit of repo.log(branch, { limit: HISTORY_MAX })) if (commit.ref === ref) return true
  // The tag that keeps a replaced commit; if there is none, it is made now, which harms nobody.
  return !(await repo.createTag({ tag: `perago-superseded-${ref}`, at: ref })).created
}

async function installFence({ repo }) {
  const bytes = Buffer.from(FENCE_FILE)
  await repo.write({ branch: MAIN, path: FENCE_PATH, body: { sizeBytes: bytes.length, open: () => bytes } })
  const { commit } = await repo.commit({ branch: MAIN, message: 'Install the fence' })
  return commit.ref
}
