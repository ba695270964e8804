/** Finds the files of a workspace, and refuses everything that cannot be published in one error. */

import { InvalidError } from '../../base/errors.ts'
import { WORKSPACE_KEY_MAX_BYTES } from '../../tasks/limits.ts'
import { WORKSPACE_FILES_MAX } from '../limits.ts'
import type { FileFacts, FilePermissions } from '../../tasks/tree-entry.ts'
import { describeRefusals, RefusalList, type Refusals } from '../refusals.ts'
import { walkTree } from './walk-tree.ts'

export interface ScanOptions {
  /** What precedes a path in the repository. */
  readonly prefix: string
  readonly maxFiles?: number
  readonly signal?: AbortSignal | undefined
  readonly onDirectory?: ((path: string) => void) | undefined
}

/** Calls `onFile` with the path of each file relative to `directory`. Empty directories have no objects. */
export async function scanTree(
  directory: string,
  { prefix, maxFiles = WORKSPACE_FILES_MAX, signal, onDirectory }: ScanOptions,
  onFile: (path: string, facts: FileFacts, permissions: FilePermissions) => void,
): Promise<void> {
  const refusals = new RefusalList()
  const prefixBytes = Buffer.byteLength(prefix)
  let files = 0
  await walkTree(directory, { signal, onDirectory }, (entry) => {
    if (entry.kind === 'other') refusals.add(entry.path, entry.what)
    else if (prefixBytes + Buffer.byteLength(entry.path) > WORKSPACE_KEY_MAX_BYTES) {
      refusals.add(entry.path, `has a key longer than ${WORKSPACE_KEY_MAX_BYTES} bytes`)
    } else if (++files > maxFiles) {
      throw tooMany(maxFiles)
    } else onFile(entry.path, entry.facts, entry.permissions)
  })
  if (refusals.count > 0) throw unpublishable(refusals)
}

function unpublishable(refusals: Refusals): InvalidError {
  return new InvalidError(
    'workspace/unpublishable',
    `read the workspace: ${refusals.count} things cannot be published: ${describeRefusals(refusals)}`,
    {
      details: { count: refusals.count, files: refusals.named },
      next: 'Let the body remove them, or write regular files instead.',
    },
  )
}

function tooMany(maxFiles: number): InvalidError {
  return new InvalidError(
    'workspace/too-large',
    `read the workspace: there are more than ${maxFiles} files in it`,
    {
      details: { what: 'files', limit: maxFiles },
      next: 'Write fewer and larger files, or raise the limit.',
    },
  )
}
