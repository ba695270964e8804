import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory with its parents, one by one, unless it exists. Node's recursive `mkdir` (v20 to v26) never returns if
 * the file system answers "no such directory" to making one in an existing directory, as below /proc, and tells a full disk as
 * ENOENT. So directories are made here. Returns the first one that was made; `undefined` if all were there.
 */
export function makeDirectory(directory: string, mode = 0o700): string | undefined {
  const path = resolve(directory)
  if (existsSync(path)) return undefined
  const parent = dirname(path)
  const first = parent === path ? undefined : makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
    return first ?? path
  } catch (error) {
    // Another process made it first.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    return first
  }
}
