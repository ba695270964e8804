// A process that writes batches into a SQLite store and says which were acknowledged, until it is killed.
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'

const store = openSqliteStore({ file: process.argv[2] ?? '' })
for (let at = 0; ; at += 1) {
  const value = Buffer.from(String(at))
  await store.commit({
    operations: ['l', 'r'].map((side) => ({
      do: 'put',
      key: `${side}:${String(at).padStart(6, '0')}`,
      value,
    })),
  })
  writeSync(1, `${String(at)}\n`)
}
