// The workers of all sides, each started once per task and stopped (SIGSTOP) while another one is measured.
import { startCounter } from '../support/servers.mjs'
import { startWorker } from './workers.mjs'

/** Tasks that a worker has done before it is measured, so that code and connections are warm. */
const WARM_UPS = 5

/** `within(side, task, work, { isCounted })` runs the work while only that worker runs. */
export function openStable(world, { warmUp }) {
  const started = new Map()
  let counters

  async function openCounters() {
    counters ??= Promise.all(
      ['lakefs', 'conductor'].map((server) => startCounter(world.bench, world[server].url)),
    )
    return counters
  }
  async function addressesOf(isCounted) {
    if (!isCounted) return world
    const [lakefs, conductor] = await openCounters()
    return {
      ...world,
      lakefs: { ...world.lakefs, url: lakefs.url },
      conductor: { ...world.conductor, url: conductor.url },
    }
  }

  return {
    openCounters,
    async within(side, task, work, { isCounted = false } = {}) {
      const key = `${side.name} ${task} ${isCounted}`
      let worker = started.get(key)
      if (worker === undefined) {
        worker = await startWorker(world.bench, side, { ...(await addressesOf(isCounted)), task, slots: 1 })
        started.set(key, worker)
        for (let count = 0; count < WARM_UPS; count++) await warmUp(side, task)
      } else worker.resume()
      try {
        return await work(worker)
      } finally {
        worker.pause()
      }
    },
    async close() {
      for (const worker of started.values()) await worker.close()
      for (const counter of (await counters) ?? []) await counter.close()
    },
  }
}
