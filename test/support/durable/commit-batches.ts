// Commits batches to a SQLite store, one after the other, and tells each acknowledgement.
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'

const [file = ''] = process.argv.slice(2)
const store = openSqliteStore({ file })
for (let batch = 0; batch < 4; batch++) {
  await store.commit({ operations: [{ do: 'put', key: `k${String(batch)}`, value: Buffer.from('value') }] })
  writeSync(1, 'answered\n')
}
await store.close()
