/**
 * Faults of this machine: a full disk, no more files, no memory. They say nothing about the work that met them: the same work
 * succeeds elsewhere, or here once the fault is gone.
 */

/** What is missing, by the codes of the operating system and of SQLite. */
const FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  SQLITE_FULL: 'the disk is full',
  EROFS: 'the file system is read-only',
  EMFILE: 'this process has too many open files',
  ENFILE: 'this machine has too many open files',
  ENOMEM: 'there is no memory left',
  SQLITE_NOMEM: 'there is no memory left',
}
/** How many errors below one another are looked at: a chain of causes may be a circle. */
const ERRORS_MAX = 32

export interface NodeFault {
  /** Such as `ENOSPC`. */
  readonly code: string
  /** In words, such as `the disk is full`. */
  readonly what: string
  /** The file or directory, if the operating system named one. */
  readonly path?: string
}

/**
 * The fault of this machine that is behind an error: the error itself, one of its causes, or one of the errors it gathers.
 *
 * ```ts
 * const fault = nodeFaultOf(error)
 * if (fault !== undefined) logger.warn(`no more tasks are taken: ${fault.what}`, fault)
 * ```
 */
export function nodeFaultOf(error: unknown): NodeFault | undefined {
  const waiting: unknown[] = [error]
  for (let looked = 0; looked < ERRORS_MAX && waiting.length > 0; looked++) {
    const next = waiting.shift()
    if (!(next instanceof Error)) continue
    const found = asFault(next)
    if (found !== undefined) return found
    waiting.push(next.cause)
    if (next instanceof AggregateError)
      waiting.push(...(next.errors as readonly unknown[]).slice(0, ERRORS_MAX))
  }
  return undefined
}

function asFault(error: Error): NodeFault | undefined {
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (typeof code !== 'string') return undefined
  const what = whatIsMissing(code, syscall)
  if (what === undefined) return undefined
  return { code, what, ...(typeof path === 'string' ? { path } : {}) }
}

function whatIsMissing(code: string, syscall: string | undefined): string | undefined {
  // Elsewhere it means "ask again".
  if (code === 'EAGAIN' && syscall?.startsWith('spawn') === true) return 'no more processes can be started'
  return Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined
}
