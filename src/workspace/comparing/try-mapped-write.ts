/**
 * Tries whether a write through a mapping changes the times of a file. Node cannot map files, but SQLite does: it maps its
 * `-shm` file shared, and every commit writes to it.
 */

import { closeSync, fdatasyncSync, lstatSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { laterOf, factsOf, sameFacts } from './file-facts.ts'
import { passFileClock } from './file-clock.ts'

/** Makes and removes a directory in `directory`. `false` also if it cannot be tried. */
export async function isMappedWriteSeen(directory: string): Promise<boolean> {
  let probe: string | undefined
  try {
    probe = await mkdtemp(join(directory, 'mapped-'))
    return await tryIn(probe)
  } catch {
    return false
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function tryIn(probe: string): Promise<boolean> {
  // Loaded when it is needed: most file systems need not be tried.
  const { default: Database } = await import('libsql')
  const path = join(probe, 'probe')
  const database = new Database(path)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE probe (value)')
    const mapped = `${path}-shm`
    writeBack(mapped)
    const before = factsOf(lstatSync(mapped, { bigint: true }))
    const newestNs = laterOf(0n, before)
    if ((await passFileClock(join(probe, 'clock'), newestNs, systemClock)) <= newestNs) return false
    database.exec('INSERT INTO probe VALUES (1)')
    return !sameFacts(factsOf(lstatSync(mapped, { bigint: true })), before)
  } finally {
    database.close()
  }
}

/** Until its pages are written back, further writes to them need not change the times. */
function writeBack(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}
