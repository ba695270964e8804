/** What a module declares, read by a process of its own: a module that was loaded once is never read again. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { entryUrl } from '../../base/module-entry.ts'
import { DEV_READ_MAX_BYTES, DEV_READ_MS } from '../limits.ts'

/** One JSON document. If it fails, `stderr` of the error has one. */
export async function extractModule(modulePath: string, signal: AbortSignal): Promise<string> {
  const main = fileURLToPath(entryUrl(import.meta.url, '../main.ts'))
  const limits = { signal, timeout: DEV_READ_MS, maxBuffer: DEV_READ_MAX_BYTES }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'extract', modulePath, '--json'],
    limits,
  )
  return stdout
}
