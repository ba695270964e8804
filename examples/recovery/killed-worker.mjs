// A worker that is killed between the two requests by which it replaces the head of a branch.
//   node killed-worker.mjs TASKS
import { subscribe } from 'node:diagnostics_channel'
import { startWorkers } from 'perago'

// The first one leaves a claim at the head; from there the second one moves the branch.
subscribe('undici:request:create', ({ request }) => {
  if (decodeURIComponent(request.path).includes('/hard_reset?ref=main^2'))
    process.kill(process.pid, 'SIGKILL')
})

const [tasks] = process.argv.slice(2)
const workers = await startWorkers({ tasks, root: 'killed-worker' })
await workers.ready
console.log(`ready ${tasks}`)
