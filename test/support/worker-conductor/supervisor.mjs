// A supervisor in its own process, which can be killed. Its command line names the file with its options.
import { readFileSync } from 'node:fs'

const [orderPath, dist, count] = process.argv.slice(2)
const { superviseWorkers } = await import(`${dist}/runtime/processes/supervisor.js`)
const { spawnWorker } = await import(`${dist}/runtime/processes/worker-processes.js`)
const { silentLogger } = await import(`${dist}/base/logger.js`)

const order = JSON.parse(readFileSync(orderPath, 'utf8'))
const { root } = order.options
const supervisor = await superviseWorkers({
  root,
  count: Number(count),
  logger: silentLogger,
  spawn: (index) => spawnWorker({ ...order, options: { ...order.options, index } }),
})
process.once('SIGTERM', () => void supervisor.stop({ deadlineMs: 100 }))
await supervisor.ready
console.log(`ready ${supervisor.pids().join(' ')}`)
