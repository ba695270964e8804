// Stores small objects of the embedded server, 64 at once, and tells when all are acknowledged; then closes, which files them.
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DiskBlobStore } from '../../../src/embedded/lakefs/engine/disk-blob-store.ts'

const [directory = ''] = process.argv.slice(2)
const directories = {
  objectsDir: join(directory, 'objects'),
  tempDir: join(directory, 'temp'),
  incomingDir: join(directory, 'incoming'),
}
for (const each of Object.values(directories)) mkdirSync(each)
const store = new DiskBlobStore(directories)
await Promise.all(Array.from({ length: 64 }, (_, index) => store.store(Buffer.from(`content ${index}`))))
writeSync(1, 'answered\n')
await store.close()
writeSync(1, 'answered\n')
