// The rows of the catalog: times, requests, needless uploads, memory.
import { printTable, round } from '../support/figures.mjs'
import { DATASETS } from './catalog.mjs'
import { bestOf, countRow, measureRow, quantileOf } from './rows.mjs'
import { cellsOf, inBrackets } from './summary.mjs'

export async function compareRows(world, rows) {
  const found = []
  const filled = new Map()
  for (const row of rows) {
    const { dataset } = row
    if (!filled.has(dataset)) filled.set(dataset, await world.datasets.create(dataset, DATASETS[dataset]))
    const whole = { ...row, data: filled.get(dataset) }
    const measured = await measureRow(world, whole)
    const counted = world.isCounting ? await countRow(world, whole) : new Map()
    found.push({ ...row, measured, counted })
    const seconds = [...measured].map(([name, each]) => `${name} ${round(timeOf(row, each))} s`)
    console.error(`${row.what}: ${seconds.join(', ')}`)
    summarise(world, row, measured)
  }
  if (found.length === 0) return
  printTimes(world, found)
  if (world.isCounting) printRequests(world, found)
  printUntouched(world, found)
  printMemory(world, found)
}

/** Seconds: the median of many runs, or the best of a few. */
function timeOf({ often }, each) {
  return often ? quantileOf(each, 0.5, ({ seconds }) => seconds) : bestOf(each)
}

function summarise({ summary }, row, measured) {
  const p50 = (each, of) => quantileOf(each, 0.5, of)
  if (!row.often) {
    const text = ({ samples }) =>
      inBrackets(
        bestOf({ samples }),
        p50({ samples }, ({ seconds }) => seconds),
      )
    return summary.add(`${row.what}, best s (p50)`, cellsOf(measured, text))
  }
  summary.add(
    `${row.what}, p50 ms end to end (execution)`,
    cellsOf(measured, (each) => {
      const executionMs = 1_000 * p50(each, ({ seconds }) => seconds)
      const endToEndMs = p50(each, (sample) => sample.endToEndMs ?? Number.NaN)
      return Number.isNaN(endToEndMs) ? round(executionMs) : inBrackets(endToEndMs, executionMs)
    }),
  )
}

function printTimes({ rounds, runs, sideNames }, found) {
  const ratio = (a, b) => (a === undefined || b === undefined ? '–' : `${round(a / b)} ×`)
  console.log(
    'Seconds from the claim of a task to its completion, by the clock of Conductor; of tools, wall time.',
  )
  console.log(`Small tasks: median of ${runs}; others: best of ${rounds}.\n`)
  printTable(
    ['seconds', ...sideNames, 'peer to cold', 'peer to warm', 'lakectl to cold'],
    found.map(({ what, measured, ...row }) => {
      const seconds = (name) => (measured.has(name) ? timeOf(row, measured.get(name)) : undefined)
      return [
        what,
        ...sideNames.map((name) => round(seconds(name))),
        ratio(seconds('peer'), seconds('ours, cold')),
        ratio(seconds('peer'), seconds('ours, warm')),
        ratio(seconds('lakectl local'), seconds('ours, cold')),
      ]
    }),
  )
}

function printRequests(world, found) {
  const names = publishersOf(world)
  console.log('Requests to lakeFS, of those that read an object, and to Conductor without polls.\n')
  printTable(
    ['lakeFS (reads) + Conductor', ...names],
    found.map(({ what, counted }) => [
      what,
      ...names.map((name) => {
        const counts = counted.get(name)
        return counts === undefined ? '–' : `${counts.lakefs} (${counts.reads}) + ${counts.conductor}`
      }),
    ]),
  )
}

function printUntouched(world, found) {
  const names = publishersOf(world)
  console.log('Files that were published although nobody had changed them.\n')
  printTable(
    ['files', ...names],
    found.map(({ what, measured }) => [
      what,
      ...names.map((name) => String(measured.get(name)?.untouched ?? '–')),
    ]),
  )
}

function printMemory({ sides }, found) {
  console.log(
    'Memory of the worker and all its processes at most: what they share counted once (looked at now and then),',
  )
  console.log(
    'and counted for each of them (RSS). Workers of other sides are stopped meanwhile, but in memory.\n',
  )
  printTable(
    ['MiB', ...sides.flatMap(({ name }) => [name, `${name}: RSS`])],
    found.map(({ what, measured }) => [
      what,
      ...sides.flatMap(({ name }) => {
        const { peakPssMib, peakRssMib } = measured.get(name) ?? {}
        return [round(peakPssMib), round(peakRssMib)]
      }),
    ]),
  )
}

/** All but `cp -r`. */
function publishersOf({ sideNames, copy }) {
  return sideNames.filter((name) => name !== copy?.name)
}
