import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory with its parents, one by one; one that is there is left as it is. Node's own recursive way (v20 to
 * v26) never returns where the file system answers "no such directory" to making one in a directory that is there, as
 * below /proc: a name that a user may choose goes through here.
 */
export function makeDirectory(directory: string, mode = 0o700): void {
  const path = resolve(directory)
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else was faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
