/**
 * Bodies of checkpoints in a directory: temporary file → fsync → rename → fsync of the directory, and only then the answer.
 * A file with its final name is complete, also after a crash or a power cut.
 */

import { randomBytes } from 'node:crypto'
import { open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../../base/make-directory.ts'
import { syncDirectory } from '../../base/sync-directory.ts'
import { executionId, tenantId, type ExecutionScope } from '../../core/keys.ts'
import type { BodyPlace, CheckpointBodies } from './ports.ts'

const BODY = '.json.gz'
const UNFINISHED = '.tmp'

/**
 * ```ts
 * const bodies = openDirectoryBodies('/var/lib/perago/checkpoints')
 * ```
 */
export function openDirectoryBodies(directory: string): CheckpointBodies {
  const folderOf = (scope: ExecutionScope): string => join(directory, ...segmentsOf(scope))
  const fileOf = ({ scope, checkpointId }: BodyPlace): string => join(folderOf(scope), checkpointId + BODY)
  return {
    name: 'directory',
    write: (place, bytes) => writeDurably(fileOf(place), bytes),
    read: (place) => ifThere(readFile(fileOf(place))),
    async remove({ scope, checkpointId }) {
      const folder = folderOf(scope)
      for (const name of await namesIn(folder))
        if (idOf(name) === checkpointId) await rm(join(folder, name), { force: true })
      // Fails while it holds others.
      await rmdir(folder).catch(() => undefined)
    },
    async list(scope) {
      return [...new Set((await namesIn(folderOf(scope))).map(idOf))]
    },
    async listExecutions() {
      const own = (await namesIn(join(directory, 'executions'))).map((name) => ({ execution: idIn(name) }))
      const tenants = await namesIn(join(directory, 'tenants'))
      const others = tenants.map(async (tenant) =>
        (await namesIn(join(directory, 'tenants', tenant))).map((name) => ({
          tenant: tenantId(decodeName(tenant)),
          execution: idIn(name),
        })),
      )
      return [...own, ...(await Promise.all(others)).flat()]
    },
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(file)
  const made = makeDirectory(folder)
  const unfinished = `${file}.${randomBytes(6).toString('hex')}${UNFINISHED}`
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await syncDirectory(folder)
  // The new directories are entries of their parents.
  for (let at = folder; made !== undefined && at.startsWith(made); at = dirname(at))
    await syncDirectory(dirname(at))
}

/** No directory: no names. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return (await ifThere(readdir(directory))) ?? []
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Of a body or of an unfinished one. */
function idOf(name: string): string {
  return name.split('.')[0] ?? ''
}

function segmentsOf({ tenant, execution }: ExecutionScope): readonly string[] {
  // Checked again: at run time callers can pass any text as a branded id, and it becomes part of a path.
  const folder = encodeName(executionId(execution))
  return tenant === undefined ? ['executions', folder] : ['tenants', encodeName(tenantId(tenant)), folder]
}

function idIn(name: string): ExecutionScope['execution'] {
  return executionId(decodeName(name))
}

/** Ids differ by case; names on some file systems do not. */
function encodeName(id: string): string {
  return id.replace(/[A-Z]/g, (letter) => `=${letter.toLowerCase()}`)
}

function decodeName(name: string): string {
  return name.replace(/=([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
