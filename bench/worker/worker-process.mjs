// A worker in its own process, which reports to its parent what each attempt did and how long each step took.
import { silentLogger } from '../../dist/base/logger.js'
import { openWorker } from '../../dist/runtime/worker.js'

const attempts = new Map()
let opened

process.on('message', (order) => {
  if (order === 'stop') return void opened.close().then(() => process.exit())
  start(order).catch((error) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit())

async function start({ configuration, modulePath, options }) {
  opened = await openWorker(configuration, modulePath, {
    ...options,
    logger: silentLogger,
    observers: [observe],
  })
  await opened.worker.ready
  process.send({ ready: true })
}

function observe(event) {
  switch (event.kind) {
    case 'attempt-started':
      attempts.set(event.executionId, { startedAtMs: now(), steps: [] })
      break
    case 'step':
      attempts.get(event.executionId).steps.push({
        step: event.event.step,
        durationMs: event.event.durationMs,
        endedAtMs: now(),
      })
      break
    case 'attempt-ended':
      process.send({
        attempt: { ...event.attempt, ...attempts.get(event.executionId), ...event.summary, endedAtMs: now() },
      })
      attempts.delete(event.executionId)
      break
  }
}

function now() {
  return performance.timeOrigin + performance.now()
}
