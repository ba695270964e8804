/**
 * A part of the disk that is set free when a root is opened on a full disk: a root that cannot be opened cannot be cleaned.
 * Several files, because a disk may also run out of files.
 */

import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../../base/make-directory.ts'
import {
  WORKSPACE_RESERVE_FILE_BYTES,
  WORKSPACE_RESERVE_FILES,
  WORKSPACE_RESERVE_ROOM_PART,
} from '../limits.ts'

/** Sets the reserve free. Whether there was any. */
export function releaseReserve(root: string): boolean {
  let isReleased = false
  for (const name of filesOf(root)) {
    try {
      rmSync(join(root, 'reserve', name))
      isReleased = true
    } catch {
      // Another process was faster.
    }
  }
  return isReleased
}

/** Less is free than opening a root may take. */
export function isNearlyFull(root: string): boolean {
  return !hasRoomFor(root, 1)
}

/** Makes the reserve, or what is missing of it, if the disk has much more room. Never throws. */
export function keepReserve(root: string): void {
  try {
    const present = new Set(filesOf(root))
    if (present.size >= WORKSPACE_RESERVE_FILES || !hasRoomFor(root, WORKSPACE_RESERVE_ROOM_PART)) return
    makeDirectory(join(root, 'reserve'))
    for (const name of NAMES.filter((name) => !present.has(name))) makeFile(join(root, 'reserve', name))
  } catch {
    // The disk has become full, or its state cannot be read: perhaps next time.
  }
}

const NAMES = Array.from({ length: WORKSPACE_RESERVE_FILES }, (_, index) => String(index))

function makeFile(path: string): void {
  try {
    // Random, because a file system may store equal bytes without taking space.
    writeFileSync(path, randomBytes(WORKSPACE_RESERVE_FILE_BYTES), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    rmSync(path, { force: true })
    throw error
  }
}

function filesOf(root: string): readonly string[] {
  try {
    return readdirSync(join(root, 'reserve')).filter((name) => NAMES.includes(name))
  } catch {
    return []
  }
}

/** Whether so many times the reserve is free. A file system that counts no files says 0 of 0. */
function hasRoomFor(root: string, times: number): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(root)
  const hasBytes = bavail * bsize >= times * WORKSPACE_RESERVE_FILES * WORKSPACE_RESERVE_FILE_BYTES
  return hasBytes && (files === 0 || ffree >= times * WORKSPACE_RESERVE_FILES)
}
