/** What `perago gc` keeps and removes on this machine, below the root of its workers. */

import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { RepositoryName } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { makeDirectory } from '../base/make-directory.ts'
import type { StagingNotes } from '../worker/branches/left-staging.ts'
import { collectOrphans, type KeptDirectory } from '../workspace/ownership/collect-orphans.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'

const SEEN = z.record(z.string(), z.object({ head: z.string(), sinceMs: z.number() }))

/** Since when branches were seen; nothing where there was no earlier run. */
export async function readStagingNotes(root: string, repository: RepositoryName): Promise<StagingNotes> {
  try {
    return { after: '', seen: SEEN.parse(JSON.parse(await readFile(pathOf(root, repository), 'utf8'))) }
  } catch {
    // Then everything is seen for the first time, and stays.
    return { after: '', seen: {} }
  }
}

export async function writeStagingNotes(
  root: string,
  repository: RepositoryName,
  { seen }: StagingNotes,
): Promise<void> {
  makeDirectory(join(root, 'gc'))
  const path = pathOf(root, repository)
  const temporary = `${path}.${process.pid}.tmp`
  await writeFile(temporary, JSON.stringify(seen), { mode: 0o600 })
  await rename(temporary, path)
}

function pathOf(root: string, repository: RepositoryName): string {
  return join(root, 'gc', `${repository}.json`)
}

export interface CollectedDirectories {
  /** Of dead workers; with `apply` they were removed. */
  readonly due: readonly string[]
  readonly kept: readonly KeptDirectory[]
}

/** Directories of workers that are proven dead. Live ones, and those of which it cannot be known, stay. */
export async function collectDirectories(
  root: string,
  options: { readonly apply: boolean; readonly logger: Logger; readonly signal?: AbortSignal | undefined },
): Promise<CollectedDirectories> {
  if (!existsSync(join(root, 'workers'))) return { due: [], kept: [] }
  const { apply, logger, signal } = options
  const opened = await openWorkspaceRoot({ directory: root, workerId: 'gc', logger })
  try {
    const { removed, kept } = await collectOrphans(opened, { isDryRun: !apply, ...(signal && { signal }) })
    return { due: removed, kept }
  } finally {
    await opened.close()
  }
}
