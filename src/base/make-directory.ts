import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory with its parents, one by one, unless it exists. Node's recursive `mkdir` (v20 to v26) never returns if
 * the file system answers "no such directory" to making one in an existing directory, as below /proc. So a directory that a
 * user names is made here.
 */
export function makeDirectory(directory: string, mode = 0o700): void {
  const path = resolve(directory)
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process made it first.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
