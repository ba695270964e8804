import { open } from 'node:fs/promises'

/** Makes the entries of a directory durable: a new or renamed file may be gone after a loss of power until this has been done. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
