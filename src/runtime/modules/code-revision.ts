/** The revision of the code of a module, for the metadata of commits. */

import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { CODE_REVISION_WAIT_MS } from '../limits.ts'

/** The commit that is checked out where the module is, with `-dirty` for changes on top of it; `undefined` if git knows of none. */
export async function codeRevisionOf(modulePath: string): Promise<string | undefined> {
  const args = ['-C', dirname(modulePath), 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  try {
    const { stdout } = await promisify(execFile)('git', args, { timeout: CODE_REVISION_WAIT_MS })
    return stdout.trim() === '' ? undefined : stdout.trim()
  } catch {
    // No git, no repository, or one that takes too long: it is for information alone.
    return undefined
  }
}
