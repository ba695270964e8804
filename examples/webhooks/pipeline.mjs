// Replaces your pipeline: records a complete execution in the store of `perago serve`.
import { openCore } from 'perago/core'
import { openSqliteStore } from 'perago/stores/sqlite'

const [id, status = 'completed'] = process.argv.slice(2)
const source = { entityType: 'node', entityId: 'extract' }
const store = openSqliteStore({ file: '.perago/core/store.db' })
// With the outbox, each write of an event also queues it for webhooks.
const execution = await openCore({ store, outbox: true }).startExecution({ id, name: 'orders' })
await execution.events.publish({ type: 'extract.started', source })
await execution.events.publish({ type: `extract.${status}`, source, payload: { rows: 7 } })
await execution.finish(status === 'failed' ? { status, error: 'no rows of today' } : { status })
await store.close()
console.log(`${id} ${status}`)
