/**
 * Reads everything in a data directory and names what is damaged or missing, with the branches, commits and paths that need it.
 * Changes nothing that a start of the server would not. Beside a running server it looks at what was there when it began.
 */

import { join } from 'node:path'
import { isPeragoError, messageOf } from '../../../base/errors.ts'
import { EMBEDDED_FSCK_DAMAGES_MAX } from '../../limits.ts'
import { openForCheck } from './data-dir.ts'
import { RESTORE, type Damage, type Tell } from './fsck-damage.ts'
import { checkObjects, type CheckedObjects } from './fsck-objects.ts'
import { checkReferences } from './fsck-references.ts'
import { checkSchema, eachSummedRow, listStructureProblems } from './metadata-check.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, SUMMED_TABLES } from './row-sums.ts'

export interface FsckReport {
  readonly dataDir: string
  /** A server runs on it. */
  readonly isServed: boolean
  readonly objects: number
  readonly objectBytes: number
  readonly commits: number
  readonly treeNodes: number
  readonly damages: readonly Damage[]
  /** Beyond the limit of those that are listed. */
  readonly damagesLeftOut: number
}

/**
 * ```ts
 * const { damages } = await checkDataDir('.perago/lakefs')
 * ```
 */
export async function checkDataDir(dataDir: string): Promise<FsckReport> {
  const damages: Damage[] = []
  let damagesLeftOut = 0
  const tell: Tell = (damage) => {
    if (damages.length < EMBEDDED_FSCK_DAMAGES_MAX) damages.push(damage)
    else damagesLeftOut += 1
  }
  const dir = openForCheck(dataDir, (file, what) => tell({ kind: 'file', file, what, next: RESTORE }))
  try {
    const objects = await checkObjects(dir)
    const { commits, treeNodes, named } = checkMetadata(dir.db, { objects, dir, tell })
    for (const name of objects.damaged) {
      if (!named.has(name)) tell(unnamedObject(join(dir.objectsDir, name)))
    }
    const sums = { objects: objects.count, objectBytes: objects.bytes, commits, treeNodes }
    return { dataDir, isServed: dir.isServed, ...sums, damages, damagesLeftOut }
  } finally {
    dir.close()
  }
}

function unnamedObject(file: string): Damage {
  return {
    kind: 'object',
    file,
    what: 'the stored bytes are damaged; nothing that could be read refers to them',
    next: 'Run "perago lakefs gc" while the server is stopped, if nothing else is damaged.',
  }
}

/** As far as SQLite can read it: what it cannot is one damage that says so. */
function checkMetadata(
  db: MetadataDb | undefined,
  parts: {
    readonly objects: CheckedObjects
    readonly dir: { readonly objectsDir: string }
    readonly tell: Tell
  },
): { readonly commits: number; readonly treeNodes: number; readonly named: ReadonlySet<string> } {
  const nothing = { commits: 0, treeNodes: 0, named: new Set<string>() }
  if (db === undefined) return nothing
  const { tell } = parts
  const tellMetadata = (what: string): void => tell({ kind: 'metadata', file: db.file, what, next: RESTORE })
  try {
    checkSchema(db)
    const problems = listStructureProblems(db)
    for (const problem of problems) tellMetadata(problem)
    // Rows that are out of order cannot be walked in order.
    if (problems.length > 0) return nothing
    for (const table of SUMMED_TABLES) {
      // Those two are told with the branches and paths that need them.
      if (table === 'commits' || table === 'staged') continue
      eachSummedRow(db, table, (row) => {
        try {
          checkRow(db, table, row)
        } catch (error) {
          tellMetadata(messageOf(error))
        }
      })
    }
    return checkReferences(db, { ...parts, objectsDir: parts.dir.objectsDir })
  } catch (error) {
    if (!isPeragoError(error) && !(error instanceof Error && 'code' in error)) throw error
    tellMetadata(messageOf(error))
    return nothing
  }
}
