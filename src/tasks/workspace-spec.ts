/** The part of a repository that a task sees and may change. */

import picomatch from 'picomatch'
import { InvalidError } from '../base/errors.ts'
import { unsafeReason } from './unsafe-path.ts'

export interface WorkspaceSpec {
  /** The part of the repository the task works on: `data/raw`. Empty or `/`: all of it. */
  readonly prefix?: string
  /** Globs relative to the prefix: only matching paths are included. Default: all. */
  readonly include?: readonly string[]
  /** Globs relative to the prefix: matching paths are excluded. */
  readonly exclude?: readonly string[]
}

/** A checked specification. Paths outside it are not checked out, changed or deleted. */
export interface WorkspaceView {
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Whether a path relative to the prefix is inside. */
  covers(path: string): boolean
}

/**
 * Checks a specification.
 *
 * ```ts
 * const view = readWorkspaceSpec({ prefix: 'orders', exclude: ['raw/**'] })
 * view.covers('daily/1.csv') // true
 * ```
 */
export function readWorkspaceSpec(spec: WorkspaceSpec): WorkspaceView {
  const prefix = readPrefix(spec.prefix ?? '')
  const includes = spec.include === undefined ? undefined : compileGlobs('include', spec.include)
  const excludes = compileGlobs('exclude', spec.exclude ?? [])
  return {
    prefix,
    covers: (path) => (includes === undefined || includes(path)) && !excludes(path),
  }
}

/** Compiles globs: `*` matches within a name, `**` across directories; dot files match too. */
export function compileGlobs(what: string, globs: readonly string[]): (path: string) => boolean {
  for (const glob of globs) checkGlob(what, glob)
  const matchers = globs.map((glob) => picomatch(glob, GLOB_OPTIONS))
  return (path) => matchers.some((matches) => matches(path))
}

/** `s`: a name may contain a line break, which the dot of a regular expression does not match otherwise. */
const GLOB_OPTIONS = { dot: true, windows: false, nonegate: true, strictSlashes: true, flags: 's' } as const

function readPrefix(text: string): string {
  const inner = text.replace(/^\//, '').replace(/\/$/, '')
  if (inner === '') return ''
  const reason = unsafeReason(inner)
  if (reason === undefined) return `${inner}/`
  throw new InvalidError(
    'workspace/bad-prefix',
    `read workspace prefix ${JSON.stringify(text)}: it ${reason}`,
    {
      details: { prefix: text },
      next: 'Use a directory of the repository, such as "data/raw", or "" for all of it.',
    },
  )
}

function checkGlob(what: string, glob: string): void {
  const reason = badGlobReason(glob)
  if (reason === undefined) return
  throw new InvalidError('workspace/bad-glob', `read ${what} glob ${JSON.stringify(glob)}: ${reason}`, {
    details: { glob },
    next: 'Write globs relative to the workspace, such as "raw/**" or "**/*.csv".',
  })
}

function badGlobReason(glob: string): string | undefined {
  if (glob === '') return 'it is empty'
  if (glob.startsWith('/')) return 'it begins with a slash, and paths of a workspace never do'
  if (glob.startsWith('!') && !glob.startsWith('!('))
    return 'negation is not supported here, there is "exclude"'
  if (glob.split('/').some((segment) => segment === '.' || segment === '..')) {
    return 'it has a segment "." or "..", and paths of a workspace never do'
  }
  return undefined
}
