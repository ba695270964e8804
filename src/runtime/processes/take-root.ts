/** One owner for each root: whoever starts workers in it holds its lock, which is released when its process ends. */

import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { InvalidError, messageOf, RefusedError } from '../../base/errors.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { clearStatusFiles } from '../telemetry/status-file.ts'
import { adoptOutboxes } from '../../worker/results/outbox.ts'
import { takeProcessLock, type ProcessLock } from '../../workspace/ownership/process-lock.ts'

/** Says who holds the lock, for people. Not its file: that is never opened in another way. */
const HOLDER = 'supervisor.json'

const holderSchema = z.object({ pid: z.int(), host: z.string(), since: z.iso.datetime() })

function thisProcess(): z.infer<typeof holderSchema> {
  return { pid: process.pid, host: hostname(), since: new Date().toISOString() }
}

function rootTaken(directory: string): RefusedError {
  const holder = readHolder(directory)
  const what = `start workers in ${JSON.stringify(directory)}`
  const details = { root: directory, ...holder }
  if (holder === undefined) {
    return new RefusedError('runtime/root-taken', `${what}: others run there`, {
      details,
      next: 'Stop them first, or give these a root of their own.',
    })
  }
  const { pid, host, since } = holder
  const on = host === hostname() ? '' : ` on ${host}`
  return new RefusedError('runtime/root-taken', `${what}: process ${pid}${on} has had them since ${since}`, {
    details,
    next: `Stop it first (kill ${pid}), or give these a root of their own (--root).`,
  })
}

/** `undefined`: an earlier version has the lock, or its holder has not written it yet. */
function readHolder(directory: string): z.infer<typeof holderSchema> | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(join(directory, HOLDER), 'utf8')))
  } catch {
    return undefined
  }
}

/** Makes the directory if it is missing. Throws `runtime/root-taken` when somebody else has workers there. */
export async function takeRoot(directory: string): Promise<ProcessLock> {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw new InvalidError(
      'runtime/bad-root',
      `start workers in ${JSON.stringify(directory)}: ${messageOf(error)}`,
      { next: 'Name a directory that this user may make and write.', cause: error },
    )
  }
  const lock = await takeProcessLock(join(directory, 'supervisor.lock'))
  if (lock === undefined) throw rootTaken(directory)
  try {
    writeFileSync(join(directory, HOLDER), JSON.stringify(thisProcess()))
    clearStatusFiles(directory)
    await adoptOutboxes(directory)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}
