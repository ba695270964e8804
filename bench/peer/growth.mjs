// Growth with the number of files: time, requests and memory of our worker, cold and warm.
import { printTable } from '../support/figures.mjs'
import { startCounter } from '../support/servers.mjs'
import { isRead, runSmallest, runTask, runTwice, sumOf } from './rows.mjs'
import { startWorker } from './workers.mjs'

/** One changed file among a growing number. */
export async function showGrowth(world, sizes) {
  const sides = world.sides.filter(({ isOurs }) => isOurs)
  const rows = []
  for (const files of sizes) {
    const data = await world.datasets.create(`growth-${files}`, { files, sizeBytes: 256 })
    const found = { files }
    for (const side of sides) found[side.name] = await growthOf(world, side, data)
    rows.push(found)
  }
  console.log('Our worker, one changed file among ever more, counted in between, which slows it.\n')
  printTable(
    [
      'files',
      ...sides.flatMap(({ name }) => [`${name}: s`, 'objects read', 'other requests', 'MiB at most']),
    ],
    rows.map((row) => [
      String(row.files),
      ...sides.flatMap(({ name }) => {
        const { seconds, reads, others, peakRssMib } = row[name]
        return [seconds, String(reads), String(others), peakRssMib]
      }),
    ]),
  )
}

async function growthOf(world, side, data) {
  const counter = await startCounter(world.bench, world.lakefs.url)
  const behind = { ...world, lakefs: { ...world.lakefs, url: counter.url } }
  const worker = await startWorker(world.bench, side, { ...behind, task: 'write', slots: 1 })
  await runSmallest(world, side, 'write')
  await counter.take()
  const row = { data, change: 'one', task: 'write' }
  const { seconds } = side.isWarm
    ? await runTwice(world, row, side, () => counter.take())
    : await runTask(world, row, side)
  const counts = await counter.take()
  const reads = sumOf(counts, isRead)
  const others = sumOf(counts, () => true) - reads
  const peakRssMib = worker.peakRssMib()
  await worker.close()
  await counter.close()
  return { seconds, reads, others, peakRssMib }
}
