/** Where the server of a data directory listens, written beside its data for as long as it does. */

import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ADDRESS_FILE = 'address.json'

/** Whole or not at all: somebody may be reading it. */
export async function recordServerAddress(dataDir: string, url: string): Promise<void> {
  const draft = join(dataDir, `${ADDRESS_FILE}.${randomBytes(6).toString('hex')}.tmp`)
  await writeFile(draft, `${JSON.stringify({ url: reachable(url), pid: process.pid })}\n`)
  await rename(draft, join(dataDir, ADDRESS_FILE))
}

/** To be called while the directory is still held, so that what is removed is one's own. */
export async function forgetServerAddress(dataDir: string): Promise<void> {
  await rm(join(dataDir, ADDRESS_FILE), { force: true })
}

/** `undefined` when no server is at work there. One that was killed leaves its record, but no process. */
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

/** A server that listens everywhere is met at loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
