// Tests that run dist/ fail at once when it was not built from the present sources: otherwise they would test, and
// pass, yesterday's code. Global set-up compares once; `fail-on-stale-build.ts` asks before each test file.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { whyStale } from '../../scripts/source-hashes.mjs'
import { PROJECT_ROOT, isTest } from './source-tree.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Why `dist/` must not be tested, or undefined. */
    readonly staleBuild: string | undefined
  }
}

export function setup(project: TestProject): void {
  const compare = (): void => project.provide('staleBuild', whyStale(PROJECT_ROOT))
  compare()
  project.onTestsRerun(compare)
}

/** Whether a test file runs `dist/`: it or a helper of the tests names it, or it imports what starts an entry of it. */
export function usesBuild(file: string): boolean {
  return relative(PROJECT_ROOT, file).startsWith('test/integration/') || leadsToBuild(file, new Set([THIS]))
}

const THIS = fileURLToPath(import.meta.url)
const NAMES_BUILD = /(?<=\.\.\/|['"`])dist\//
const STARTS_ENTRY = /entryUrl\(/
const IMPORTED = /from '(\.[^']+\.ts)'/g

function leadsToBuild(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !existsSync(file)) return false
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  if (isSource(file)) return STARTS_ENTRY.test(text)
  if (NAMES_BUILD.test(text)) return true
  const imported = [...text.matchAll(IMPORTED)].map(([, to = '']) => join(dirname(file), to))
  // What src/ imports in its turn is not followed: almost everything leads to a thread somewhere.
  return imported.some((to) => leadsToBuild(to, seen))
}

function isSource(file: string): boolean {
  return relative(PROJECT_ROOT, file).startsWith('src/') && !isTest(file)
}
