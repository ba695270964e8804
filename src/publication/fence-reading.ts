/** Whether a tree has the file of the fence, byte for byte. */

import type { BranchName, CommitRef } from '../base/ids.ts'
import { FENCE_FILE, FENCE_MD5, FENCE_PATH } from './fence-file.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'

/** `other`: there is a file of that name, and it is another one. */
export type FenceReading = 'present' | 'absent' | 'other'

/** One request where checksums are MD5; elsewhere the file is read as well. */
export async function readFence(
  repo: VersionedRepo,
  at: CommitRef | BranchName,
  call: CallOptions,
): Promise<FenceReading> {
  const found = await repo.stat(at, FENCE_PATH, call)
  if (found === undefined) return 'absent'
  if (found.checksum === FENCE_MD5) return 'present'
  if (found.sizeBytes !== Buffer.byteLength(FENCE_FILE)) return 'other'
  const opened = await repo.read(at, FENCE_PATH, call)
  const pieces: Uint8Array[] = []
  // As long as the file, by what was just read.
  for await (const piece of opened?.body ?? []) pieces.push(piece as Uint8Array)
  return Buffer.concat(pieces).equals(Buffer.from(FENCE_FILE)) ? 'present' : 'other'
}
