/** What can be read from the log of a task. Pure. */

export interface Progress {
  readonly done: number
  readonly total: number | undefined
  readonly what: string | undefined
}

/** As a worker writes it: `progress: 3 of 10 files (30 %)`. */
const PROGRESS = /^progress: (\d+(?:\.\d+)?)(?: of (\d+(?:\.\d+)?))?(?: (.*?))??(?: \(\d+(?:\.\d+)? %\))?$/

/** The latest one. */
export function readProgress(lines: readonly string[]): Progress | undefined {
  const [, done, total, what] = PROGRESS.exec(lines.findLast((line) => PROGRESS.test(line)) ?? '') ?? []
  if (done === undefined) return undefined
  return { done: Number(done), total: total === undefined ? undefined : Number(total), what }
}

export type LineKind = 'bad' | 'warn' | 'progress' | 'steps' | 'plain'

export function kindOfLine(line: string): LineKind {
  if (/^(?:error|fatal):/.test(line)) return 'bad'
  if (line.startsWith('warn:')) return 'warn'
  // The page shows them as a table.
  if (line.startsWith('steps: [')) return 'steps'
  return PROGRESS.test(line) ? 'progress' : 'plain'
}
