/** What a failure of SQLite, or of the file system below it, means for whoever opens or uses the file. */

export type SqliteTrouble = 'corrupt' | 'full' | 'io' | 'cannot-open' | 'read-only' | 'busy'

/** By the primary result code of SQLite. */
const BY_RESULT: Readonly<Record<number, SqliteTrouble>> = {
  3: 'cannot-open',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'io',
  11: 'corrupt',
  13: 'full',
  14: 'cannot-open',
  26: 'corrupt',
}

/** Longer names begin with one of these. */
const BY_NAME: readonly (readonly [string, SqliteTrouble])[] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_READONLY', 'read-only'],
  ['SQLITE_IOERR', 'io'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_CANTOPEN', 'cannot-open'],
  ['SQLITE_PERM', 'cannot-open'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EFBIG', 'full'],
  ['EROFS', 'read-only'],
  ['EIO', 'io'],
]

/** `undefined` where it is none of them. */
export function sqliteTroubleOf(error: unknown): SqliteTrouble | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, rawCode } = error as { readonly code?: unknown; readonly rawCode?: unknown }
  // A plain error by its code; the numbers of the format in the head of the file are wrong.
  if (error.message === 'unsupported file format') return 'corrupt'
  const named = typeof code === 'string' ? BY_NAME.find(([name]) => code.startsWith(name)) : undefined
  if (named !== undefined) return named[1]
  if (typeof rawCode === 'number') return BY_RESULT[rawCode % 256]
  if (/database is locked/.test(error.message)) return 'busy'
  // Where a connection fails libsql 0.5.29 gives the result code in the text only.
  const [, result] = /^ConnectionFailed\(".*: (\d+)"\)$/s.exec(error.message) ?? []
  if (result !== undefined) return BY_RESULT[Number(result) % 256]
  // Anything that the file system refuses, such as a directory that may not be made.
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? 'cannot-open' : undefined
}

/** What the reader may do, where the file cannot be used and nothing says that it is damaged. */
export function nextAfter(trouble: SqliteTrouble | undefined, file: string): string {
  switch (trouble) {
    case 'full':
      return `Free space on the disk of ${file}, or raise its quota, and try again. The data is not damaged.`
    case 'io':
      return `Reading or writing the disk failed: check its free space, its health and the log of the system, then try again.`
    case 'read-only':
      return `Let this user write ${file} and its directory, on a file system that is not mounted read-only, and try again.`
    case 'busy':
      return 'Another process holds the file: try again, or find out which one.'
    case 'cannot-open':
    case 'corrupt':
    case undefined:
      return 'Check the path, its permissions and the limit of open files, and try again.'
  }
}
