/** Where an error was thrown, for people: the file and the line of the first call that is no library's. */

import { basename } from 'node:path'

const FRAME = /^\s*at (?:.*\()?(?:file:\/\/)?([^()]+):(\d+):\d+\)?$/

/**
 * Without the directory, which is nobody's business elsewhere.
 *
 * ```ts
 * originOf(new Error('no rows')) // 'tasks.ts:31'
 * ```
 */
export function originOf(error: unknown): string | undefined {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : ''
  for (const line of stack.split('\n')) {
    const [, file, at] = FRAME.exec(line) ?? []
    if (file === undefined || at === undefined) continue
    if (!file.startsWith('node:') && !file.includes('/node_modules/')) return `${basename(file)}:${at}`
  }
  return undefined
}
