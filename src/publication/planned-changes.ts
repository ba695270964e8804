/** What an attempt changed against its input ref, as whole keys of the repository. */

import { InvalidError, RefusedError } from '../base/errors.ts'
import { ACTIONS_FOLDER } from '../base/reserved-paths.ts'
import { PUBLICATION_PATHS_SHOWN } from './limits.ts'
import type { WriteRequest } from './ports.ts'

export type PlannedUpload = Omit<WriteRequest, 'branch' | 'ifAbsent'>

export interface PlannedChanges {
  /** Added or changed against the input ref. */
  readonly uploads: readonly PlannedUpload[]
  /** Present at the input ref and gone now. */
  readonly deletes: readonly string[]
}

/** Path → the checksum under which the repository stores what was uploaded. */
export type StoredChecksums = ReadonlyMap<string, string>

export function isEmpty({ uploads, deletes }: PlannedChanges): boolean {
  return uploads.length === 0 && deletes.length === 0
}

/** The actions of lakeFS decide what may happen to the repository, a fence among them: that is its owner's to say. */
export function refuseActions({ uploads, deletes }: PlannedChanges): void {
  const paths = [...uploads.map((upload) => upload.path), ...deletes]
  const found = paths.filter((path) => path.startsWith(ACTIONS_FOLDER))
  if (found.length === 0) return
  throw new RefusedError(
    'publication/actions-folder',
    `plan changes: ${found.length} paths are in ${ACTIONS_FOLDER}, which no publication changes, such as ${showPaths(found)}`,
    {
      details: { count: found.length },
      next: `Write somewhere else; "perago fence" changes ${ACTIONS_FOLDER}.`,
    },
  )
}

/** Refuses a plan that reaches outside the prefix, or names a path twice, before anything is sent. */
export function checkPlan(plan: PlannedChanges, prefix: string): void {
  // Without the slash, "data" would take in "database/x".
  if (prefix !== '' && !prefix.endsWith('/')) {
    throw new InvalidError('publication/bad-prefix', `plan changes under "${prefix}": a prefix ends with "/"`)
  }
  const seen = new Set<string>()
  const outside: string[] = []
  const twice: string[] = []
  for (const path of [...plan.uploads.map((upload) => upload.path), ...plan.deletes]) {
    if (!path.startsWith(prefix)) outside.push(path)
    if (seen.has(path)) twice.push(path)
    seen.add(path)
  }
  const describe = (paths: readonly string[], what: string): string =>
    `plan changes under "${prefix}": ${paths.length} paths ${what}, such as ${showPaths(paths)}`
  if (outside.length > 0)
    throw new InvalidError('publication/outside-prefix', describe(outside, 'are outside it'))
  if (twice.length > 0) throw new InvalidError('publication/path-twice', describe(twice, 'are named twice'))
}

export function showPaths(paths: readonly string[]): string {
  return paths
    .slice(0, PUBLICATION_PATHS_SHOWN)
    .map((path) => JSON.stringify(path))
    .join(', ')
}
