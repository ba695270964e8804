/** The workers of one root on this machine, as they say of themselves. Read from their files: nobody is asked, and nothing changes. */

import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../base/clock.ts'
import { messageOf, UnavailableError } from '../../base/errors.ts'
import { hasCertainlyEnded } from '../../base/process-identity.ts'
import { STATUS_FILE_MAX_BYTES, STATUS_SILENT_MS, WORKERS_SHOWN_MAX } from '../limits.ts'
import { statusDirectory, statusFileSchema, type StatusFile } from '../telemetry/status-file.ts'

export interface ShownWorker extends Omit<StatusFile, 'format' | 'version' | 'process' | 'state'> {
  readonly index: number
  readonly pid: number
  /** `silent`: it has not written for long. `gone`: its process has ended. Of both this is what was known last. */
  readonly state: StatusFile['state'] | 'silent' | 'gone'
}

export interface ShownWorkers {
  readonly asOf: Date
  readonly workers: readonly ShownWorker[]
  /** False when there are more. */
  readonly isWhole: boolean
}

export interface WorkersView {
  read(): Promise<ShownWorkers>
}

/** The root need not exist. Rejects with `runtime/workers-unreadable` where others may not look. */
export function openWorkersView({
  root,
  clock = systemClock,
}: {
  readonly root: string
  readonly clock?: Clock
}): WorkersView {
  const directory = statusDirectory(root)
  return {
    async read() {
      const indexes = await listIndexes(directory)
      const asOf = clock.now()
      const workers = []
      for (const index of indexes.slice(0, WORKERS_SHOWN_MAX)) {
        const written = await readStatus(join(directory, `${index}.json`))
        if (written !== undefined) workers.push(await show(written, index, asOf))
      }
      return { asOf, workers, isWhole: indexes.length <= WORKERS_SHOWN_MAX }
    },
  }
}

async function listIndexes(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new UnavailableError(
      'runtime/workers-unreadable',
      `list the workers in ${JSON.stringify(directory)}: ${messageOf(cause)}`,
      { cause, next: 'Run the server as the user of the workers, or name another root.' },
    )
  })
  return names
    .flatMap((name) => /^(\d{1,6})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

/** `undefined`: removed meanwhile, or not the status of a worker. */
async function readStatus(path: string): Promise<StatusFile | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile() || stats.size > STATUS_FILE_MAX_BYTES) return undefined
      return statusFileSchema.safeParse(JSON.parse(await file.readFile('utf8'))).data
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

async function show(written: StatusFile, index: number, asOf: Date): Promise<ShownWorker> {
  const { process: by, state, ...rest } = written
  const isSilent = asOf.getTime() - Date.parse(written.writtenAt) > STATUS_SILENT_MS
  const isGone = await hasCertainlyEnded(by).catch(() => false)
  return { ...rest, index, pid: by.pid, state: isGone ? 'gone' : isSilent ? 'silent' : state }
}
