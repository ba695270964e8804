/** Examines the file system of a worker's root. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { judgeFileTimes } from '../../workspace/comparing/file-times.ts'

export interface RootExamination {
  /** Absolute. It need not exist yet. */
  readonly directory: string
  readonly fileSystem: string
  /** Otherwise workers read every file when they compare, and keep no directory for the next task. */
  readonly areFileTimesTrusted: boolean
}

export async function examineRoot(directory: string): Promise<RootExamination> {
  const { fileSystem, areTrusted } = await judgeFileTimes(nearestExisting(directory))
  return { directory, fileSystem, areFileTimesTrusted: areTrusted }
}

function nearestExisting(directory: string): string {
  const parent = dirname(directory)
  return existsSync(directory) || parent === directory ? directory : nearestExisting(parent)
}
