// Starts an execution in the store of `perago serve`.
import { openCore } from 'perago/core'
import { openSqliteStore } from 'perago/stores/sqlite'

const store = openSqliteStore({ file: '.perago/core/store.db' })
const core = openCore({ store, outbox: true }) // the outbox is needed for webhooks
await core.startExecution({ id: 'exec_1', name: 'orders', inputs: { day: '2026-01-16' } })
await store.close()
