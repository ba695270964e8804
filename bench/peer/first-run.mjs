// The first `perago run` over many files, with the embedded server, beside `lakectl fs upload -r` on the lakeFS of the bench.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { branchName } from '../../dist/base/ids.js'
import { openDatasets } from '../support/datasets.mjs'
import { printTable, quantile, round } from '../support/figures.mjs'
import { startLakefs } from '../support/servers.mjs'
import { DATASETS } from './catalog.mjs'
import { inTurn } from './rows.mjs'
import { cellsOf } from './summary.mjs'
import { verifyFilled } from './verify.mjs'
import { serversEnv } from './workers.mjs'

const MAIN = branchName('main')
const { files, sizeBytes } = DATASETS.many

let runs = 0

/** The whole command and its upload, seconds. The body writes the files; each run fills a new repository. */
export async function compareFirstRun(world) {
  const embedded = await startLakefs(world.bench, { isEmbedded: true })
  const datasets = await openDatasets(embedded)
  const served = { embedded: { lakefs: embedded, datasets }, same: world }
  const ours = world.sides.filter(({ isOurs, isWarm }) => isOurs && isWarm)
  const contenders = [
    ...ours.map((side) => ({ ...side, fill: (run) => fillByRun(world.bench, side, served.embedded, run) })),
    // Beside lakectl only the same server tells something.
    ...ours.flatMap((side) =>
      world.lakefs.isEmbedded
        ? []
        : [{ name: overReal(side.name), fill: (run) => fillByRun(world.bench, side, served.same, run) }],
    ),
    ...(world.lakectl === undefined
      ? []
      : [{ name: world.lakectl.name, fill: (run) => fillByLakectl(world, run) }]),
  ]
  const found = new Map(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < world.rounds; round++) {
    for (const { name, fill } of inTurn(contenders, round)) found.get(name).push(await fill(++runs))
  }
  await datasets.close()
  await embedded.close()
  print(world, found)
}

function print({ summary, rounds }, found) {
  const names = [...found.keys()]
  const median = (each, of) => quantile(each.map(of), 0.5)
  const of = (key) => names.map((name) => median(found.get(name), (run) => run[key] ?? Number.NaN))
  console.log(
    `First \`perago run\` over ${files} × ${sizeBytes} bytes with the embedded server; median of ${rounds}.\n`,
  )
  printTable(
    ['s', ...names],
    [
      ['whole command', ...of('seconds')],
      ['of which upload', ...of('uploadSeconds')],
    ],
  )
  const text = (each) => {
    const upload = median(each, ({ uploadSeconds }) => uploadSeconds)
    return `${round(upload)} (${round(median(each, ({ seconds }) => seconds))})`
  }
  const what = `first run, ${files} × 4 KiB, upload s (whole command)`
  const isOverReal = (name) => name.endsWith(overReal(''))
  summary.add(
    `${what}; ours embedded`,
    cellsOf(new Map([...found].filter(([name]) => !isOverReal(name))), text),
  )
  const real = [...found]
    .filter(([name]) => isOverReal(name))
    .map(([name, each]) => [name.slice(0, -overReal('').length), each])
  if (real.length > 0) summary.add(`${what}; ours on the same lakeFS`, cellsOf(new Map(real), text))
}

function overReal(name) {
  return `${name}, same lakeFS`
}

async function fillByRun(bench, side, { lakefs, datasets }, run) {
  const { repository, repo } = await datasets.empty(`first-${run}`)
  const directory = join(bench.directory, 'first', String(run))
  mkdirSync(directory, { recursive: true })
  const seed = `first ${run}`
  const params = JSON.stringify({ change: 'all', seed, files, sizeBytes })
  const target = ['--repo', repository, '--branch', MAIN, '--params', params]
  const args = [side.main, 'run', side.taskOf('fill'), side.tasksPath, ...target]
  const startMs = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...serversEnv({ lakefs }) },
  })
  const seconds = (performance.now() - startMs) / 1_000
  if (status !== 0) throw new Error(`perago run: it ended with ${status}: ${stdout} ${stderr}`)
  const uploadMs = /^publish\/upload\s+\S+\s+(\d+) ms$/m.exec(stderr)?.[1]
  if (uploadMs === undefined)
    throw new Error(`perago run: it does not say how long the upload took: ${stderr}`)
  await verifyFilled({ repo, branch: MAIN, files, sizeBytes, seed })
  rmSync(directory, { recursive: true, force: true })
  return { seconds, uploadSeconds: Number(uploadMs) / 1_000 }
}

async function fillByLakectl({ lakectl, datasets }, run) {
  const { repository, repo } = await datasets.empty(`first-${run}`)
  const seed = `first ${run}`
  const times = lakectl.upload({ repository, branch: MAIN, files, sizeBytes, seed })
  await verifyFilled({ repo, branch: MAIN, files, sizeBytes, seed })
  return times
}
