/**
 * Notices that a source file changed: a module of tasks, or what it may import. Looks at the files instead of asking the system
 * for notices, which network mounts and containers do not send.
 */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { SOURCE_FILES_WATCHED_MAX, SOURCE_LOOK_MS } from '../limits.ts'

/** No JSON and no YAML: more often than not they are data. */
const SOURCE = /\.(?:[cm]?[jt]s|py|sql|sh)$/
const NOT_ENTERED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage'])

export interface WatchSourcesOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Files that are looked at whatever they are called. */
  readonly also?: readonly string[]
}

/** Yields once for every set of changes, after the files have been quiet for one look. Ends when the signal is aborted. */
export async function* watchSources(
  directory: string,
  { clock, signal, also = [] }: WatchSourcesOptions,
): AsyncGenerator<readonly string[], void, undefined> {
  let told = await readSources(directory, also)
  let seen = told
  while (await isTimeToLook(clock, signal)) {
    const now = await readSources(directory, also)
    const isQuiet = differences(seen, now).length === 0
    seen = now
    const changed = differences(told, now)
    if (changed.length === 0 || !isQuiet) continue
    told = now
    yield changed
  }
}

/** `false`: stopped. */
function isTimeToLook(clock: Clock, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(SOURCE_LOOK_MS, signal).then(
    () => true,
    () => false,
  )
}

type Sources = ReadonlyMap<string, string>

async function readSources(directory: string, also: readonly string[]): Promise<Sources> {
  const found = new Map<string, string>()
  for (const path of also) await look(path, found)
  const left = [directory]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    // A directory that is gone has no files.
    const entries = await readdir(next, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !NOT_ENTERED.has(entry.name)) left.push(path)
      } else if (SOURCE.test(entry.name) && found.size < SOURCE_FILES_WATCHED_MAX) {
        await look(path, found)
      }
    }
  }
  return found
}

async function look(path: string, found: Map<string, string>): Promise<void> {
  // One that is gone is not among the found ones.
  const facts = await stat(path).catch(() => undefined)
  if (facts !== undefined) found.set(path, `${facts.mtimeMs} ${facts.size} ${facts.ino}`)
}

function differences(before: Sources, after: Sources): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path) !== after.get(path))
}
