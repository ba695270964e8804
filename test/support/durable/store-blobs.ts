// Stores objects of the embedded server, one after the other, and tells each acknowledgement.
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { DiskBlobStore } from '../../../src/embedded/lakefs/engine/disk-blob-store.ts'

const [directory = ''] = process.argv.slice(2)
const directories = {
  objectsDir: join(directory, 'objects'),
  tempDir: join(directory, 'temp'),
  incomingDir: join(directory, 'incoming'),
}
for (const each of Object.values(directories)) mkdirSync(each)
const store = new DiskBlobStore(directories)
// Larger than what goes into a journal.
for (const content of ['one', 'two', 'three']) {
  await store.store(Readable.from([Buffer.alloc(100_000, content)]))
  writeSync(1, 'answered\n')
}
await store.close()
