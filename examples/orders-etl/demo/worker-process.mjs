// A worker in its own process, so that it can be killed. It gets its options as a message.
import { openTestWorker } from 'perago/testing'
import { tellSteps } from './printing.mjs'
import { queueOfParent } from './queue-over-ipc.mjs'

process.once('disconnect', () => process.exit(1))
const options = JSON.parse(process.argv[2])
await openTestWorker({ ...options, queue: queueOfParent(), observe: tellSteps(options.workerId) })
