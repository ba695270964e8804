/** The address of the server of a data directory, in a file beside its data while it runs. */

import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ADDRESS_FILE = 'address.json'

/** Written as a whole, because another process may read it. */
export async function recordServerAddress(dataDir: string, url: string): Promise<void> {
  const draft = join(dataDir, `${ADDRESS_FILE}.${randomBytes(6).toString('hex')}.tmp`)
  await writeFile(draft, `${JSON.stringify({ url: reachable(url), pid: process.pid })}\n`, { mode: 0o600 })
  await rename(draft, join(dataDir, ADDRESS_FILE))
}

/** Call it while the directory is still locked, so that it does not remove the file of the next server. */
export async function forgetServerAddress(dataDir: string): Promise<void> {
  await rm(join(dataDir, ADDRESS_FILE), { force: true })
}

/** `undefined` when no server is running there. One that was killed leaves its file, but no process. */
export async function readServerAddress(dataDir: string): Promise<string | undefined> {
  try {
    const recorded: unknown = JSON.parse(await readFile(join(dataDir, ADDRESS_FILE), 'utf8'))
    const { url, pid } = (recorded ?? {}) as { readonly url?: unknown; readonly pid?: unknown }
    return typeof url === 'string' && typeof pid === 'number' && isAlive(pid) ? url : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A server that listens on all addresses is reached at loopback. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
