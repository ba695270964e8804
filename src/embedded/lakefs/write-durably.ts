import { randomBytes } from 'node:crypto'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file that only its owner may read: a crash leaves the old one or the new one, never a part. */
export async function writeDurably(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  await withHandle(await open(draft, 'wx', 0o600), async (handle) => {
    await handle.writeFile(content)
    await handle.sync()
  })
  await rename(draft, file)
  await withHandle(await open(dirname(file), 'r'), (directory) => directory.sync())
}

async function withHandle(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle)
  } finally {
    await handle.close()
  }
}
