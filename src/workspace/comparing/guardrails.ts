/**
 * Rules for a workspace, checked before or after the body. All are checked and every failure is reported. They see the files
 * that the task sees; links are never followed.
 */

import { constants, lstatSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ZodType } from 'zod'
import { followSignals } from '../../base/abort-signals.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, messageOf } from '../../base/errors.ts'
import { GuardrailError, type GuardrailFailure, type GuardrailPhase } from '../../tasks/guardrail-error.ts'
import type { Finding, Guardrail, GuardrailContext, GuardrailRule } from '../../tasks/guardrails.ts'
import type { TreeEntry } from '../../tasks/tree-entry.ts'
import { unsafeReason } from '../../tasks/unsafe-path.ts'
import { compileGlobs } from '../../tasks/workspace-spec.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import {
  GUARDRAIL_FAILURES_MAX,
  GUARDRAIL_JSON_MAX_BYTES,
  GUARDRAIL_MAX_MS,
  GUARDRAILS_IN_FLIGHT,
} from '../limits.ts'
import { kindOf, walkTree } from './walk-tree.ts'

/** A regular file exists, with at least `minBytes`. */
export function requireFile(path: string, options: { readonly minBytes?: number } = {}): GuardrailRule {
  const minBytes = options.minBytes ?? 0
  const wanted = minBytes === 0 ? 'a file' : `a file of ${minBytes} bytes or more`
  return pathRule('requireFile', path, wanted, ({ stats, what }) => {
    if (stats?.isFile() !== true) return what
    return stats.size >= minBytes ? undefined : `a file of ${stats.size} bytes`
  })
}

/** A directory exists. */
export function requireDir(path: string): GuardrailRule {
  return pathRule('requireDir', path, 'a directory', ({ stats, what }) =>
    stats?.isDirectory() === true ? undefined : what,
  )
}

/** At least `min` files match (1 unless given), and at most `max`. */
export function requireGlob(
  pattern: string,
  options: { readonly min?: number; readonly max?: number } = {},
): GuardrailRule {
  const { min = 1, max = Infinity } = options
  const matches = compileGlobs('requireGlob', [pattern])
  if (!(min >= 0 && max >= min)) throw badRule('requireGlob', pattern, `no number is from ${min} to ${max}`)
  const wanted = max === Infinity ? `${min} files or more` : `${min} to ${max} files`
  return fileRule('requireGlob', (files) => {
    const count = files.filter(({ path }) => matches(path)).length
    return count >= min && count <= max ? [] : [{ path: pattern, found: `${count} files`, wanted }]
  })
}

/** No file matches; each match is reported. */
export function forbidGlob(pattern: string): GuardrailRule {
  const matches = compileGlobs('forbidGlob', [pattern])
  return {
    rule: 'forbidGlob',
    check: async ({ entries }) =>
      (await entries())
        .filter(({ path }) => matches(path))
        .map(({ path }) => ({
          path,
          found: 'it',
          wanted: `nothing that matches ${JSON.stringify(pattern)}`,
        })),
  }
}

/** There are at most `limit` files. */
export function maxFiles(limit: number): GuardrailRule {
  return fileRule('maxFiles', (files) =>
    files.length <= limit ? [] : [{ path: '.', found: `${files.length} files`, wanted: `${limit} at most` }],
  )
}

/** All files together have at most `limit` bytes. */
export function maxBytes(limit: number): GuardrailRule {
  return fileRule('maxBytes', (files) => {
    const bytes = files.reduce((sum, { facts }) => sum + facts.sizeBytes, 0)
    return bytes <= limit ? [] : [{ path: '.', found: `${bytes} bytes`, wanted: `${limit} at most` }]
  })
}

/**
 * A JSON file matches a schema; every mismatch is reported with its place.
 *
 * ```ts
 * jsonMatches('report.json', z.object({ rows: z.int().positive() }))
 * ```
 */
export function jsonMatches(path: string, schema: ZodType): GuardrailRule {
  assertPath('jsonMatches', path)
  return { rule: 'jsonMatches', check: ({ dir }) => checkJson(dir, path, schema) }
}

export interface CheckGuardrailsOptions {
  readonly dir: string
  readonly phase: GuardrailPhase
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** The longest time for each. */
  readonly maxMs?: number
}

/**
 * Checks all, and throws one `GuardrailError` with all failures.
 *
 * ```ts
 * await checkGuardrails([requireFile('orders.csv'), maxFiles(100)], { dir, phase: 'pre' })
 * ```
 */
export async function checkGuardrails(
  guardrails: readonly Guardrail[],
  options: CheckGuardrailsOptions,
): Promise<void> {
  const results: (readonly GuardrailFailure[])[] = []
  const causes: unknown[] = []
  let walk: Promise<readonly TreeEntry[]> | undefined
  await forEachBounded(
    guardrails.entries(),
    { limit: GUARDRAILS_IN_FLIGHT, signal: options.signal },
    async ([index, guardrail], signal) => {
      const entries = (): Promise<readonly TreeEntry[]> => (walk ??= listEntries(options.dir, signal))
      const context = { dir: options.dir, phase: options.phase, signal, entries }
      results[index] = await checkOne(guardrail, context, options, (error) => causes.push(error))
    },
  )
  const failures = results.flat()
  if (failures.length > 0) {
    throw new GuardrailError(
      options.phase,
      failures,
      causes.length > 1 ? new AggregateError(causes) : causes[0],
    )
  }
}

async function checkOne(
  guardrail: Guardrail,
  context: GuardrailContext,
  { clock = systemClock, maxMs = GUARDRAIL_MAX_MS }: CheckGuardrailsOptions,
  keepCause: (error: unknown) => void,
): Promise<readonly GuardrailFailure[]> {
  const rule = typeof guardrail === 'function' ? guardrail.name || 'guardrail' : guardrail.rule
  const over = followSignals(context.signal)
  try {
    const findings = await Promise.race([
      findingsOf(guardrail, { ...context, signal: over.signal }),
      clock
        .sleep(maxMs, over.signal)
        .then(() => [{ path: '.', found: 'no answer', wanted: `one within ${maxMs} ms` }]),
    ])
    return bounded(findings).map((finding) => ({ rule, ...finding }))
  } catch (error) {
    context.signal.throwIfAborted()
    keepCause(error)
    const found = `an error: ${messageOf(error)}`
    return [{ rule, path: '.', found, wanted: 'the check to pass' }]
  } finally {
    // Ends the timer, or aborts a function that took too long.
    over.abort()
    over.release()
  }
}

async function findingsOf(guardrail: Guardrail, context: GuardrailContext): Promise<readonly Finding[]> {
  if (typeof guardrail !== 'function') return guardrail.check(context)
  const answer = await guardrail(context)
  if (answer === undefined) return []
  return typeof answer === 'string' ? [{ path: '.', found: answer, wanted: 'the check to pass' }] : answer
}

function bounded(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= GUARDRAIL_FAILURES_MAX) return findings
  const more = findings.length - GUARDRAIL_FAILURES_MAX
  return [...findings.slice(0, GUARDRAIL_FAILURES_MAX), { path: '.', found: `${more} more`, wanted: 'none' }]
}

async function listEntries(dir: string, signal: AbortSignal): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = []
  await walkTree(dir, { signal }, (entry) => entries.push(entry))
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
}

type TreeFile = Extract<TreeEntry, { kind: 'file' }>

function fileRule(rule: string, check: (files: readonly TreeFile[]) => readonly Finding[]): GuardrailRule {
  return {
    rule,
    check: async ({ entries }) => check((await entries()).filter((entry) => entry.kind === 'file')),
  }
}

interface LookedUp {
  /** Of the thing with this path; `undefined` if a part of the path is a link. */
  readonly stats: Stats | undefined
  /** In words. */
  readonly what: string
}

function pathRule(
  rule: string,
  path: string,
  wanted: string,
  judge: (found: LookedUp) => string | undefined,
): GuardrailRule {
  assertPath(rule, path)
  return {
    rule,
    check: ({ dir }) => {
      const found = judge(lookUp(dir, path))
      return Promise.resolve(found === undefined ? [] : [{ path, found, wanted }])
    },
  }
}

/** Name by name, because a link in the path could lead out of the directory. */
function lookUp(dir: string, path: string): LookedUp {
  let stats: Stats | undefined
  let reached = ''
  for (const name of path.split('/')) {
    if (stats?.isDirectory() === false)
      return { stats: undefined, what: `nothing, because ${describe(reached, stats)}` }
    reached = reached === '' ? name : `${reached}/${name}`
    stats = lstatSync(join(dir, reached), { throwIfNoEntry: false })
    if (stats === undefined) return { stats, what: 'nothing' }
  }
  return {
    stats,
    what: stats?.isFile() === true ? 'a file' : kindOf(stats ?? lstatSync(dir)).replace(/^is /, ''),
  }
}

function describe(path: string, stats: Stats): string {
  return `${JSON.stringify(path)} ${stats.isFile() ? 'is a file' : kindOf(stats)}`
}

async function checkJson(dir: string, path: string, schema: ZodType): Promise<readonly Finding[]> {
  const { stats, what } = lookUp(dir, path)
  if (stats?.isFile() !== true) return [{ path, found: what, wanted: 'a JSON file' }]
  if (stats.size > GUARDRAIL_JSON_MAX_BYTES) {
    return [
      { path, found: `${stats.size} bytes`, wanted: `a JSON file of ${GUARDRAIL_JSON_MAX_BYTES} at most` },
    ]
  }
  let value: unknown
  try {
    value = JSON.parse(await readWithoutFollowing(join(dir, path)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [{ path, found: `invalid JSON (${error.message})`, wanted: 'a JSON file' }]
  }
  const result = await schema.safeParseAsync(value)
  return result.success
    ? []
    : result.error.issues.map((issue) => ({
        path: `${path}#/${issue.path.map(String).join('/')}`,
        found: issue.message,
        wanted: 'a value that matches the schema',
      }))
}

async function readWithoutFollowing(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function assertPath(rule: string, path: string): void {
  const reason = unsafeReason(path)
  if (reason !== undefined) throw badRule(rule, path, `the path ${reason}`)
}

function badRule(rule: string, path: string, reason: string): InvalidError {
  return new InvalidError(
    'workspace/bad-guardrail',
    `read guardrail ${rule}(${JSON.stringify(path)}): ${reason}`,
    {
      details: { rule, path },
      next: 'Write paths relative to the workspace, such as "daily/orders.csv".',
    },
  )
}
