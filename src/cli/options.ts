/** Options that several commands have. */

import { InvalidArgumentError } from 'commander'
import { join, resolve } from 'node:path'
import { parseDuration } from '../base/quantities.ts'
import { COMMAND_COUNT_MAX, STOP_DEADLINE_MAX_MS } from './limits.ts'
import type { LogLevel } from '../base/logger.ts'
import type { Terminal } from './terminal.ts'

/** Options of every command that reads the configuration. */
export interface ConfiguredOptions {
  readonly config?: string
  readonly logLevel?: LogLevel
  readonly json?: boolean
}

/** A user is waiting: two tries are enough. */
export const PATIENCE = { maxAttempts: 2, maxElapsedMs: 5_000 }

/** Directories of workers and of single runs of a task, relative to the working directory. */
export const WORK_ROOT = ['.perago', 'work'] as const
export const RUN_ROOT = ['.perago', 'run'] as const

/** The root of the workers of this machine. */
export function workRootOf(
  { root }: { readonly root?: string },
  { directory }: Pick<Terminal, 'directory'>,
): string {
  return resolve(directory, root ?? join(...WORK_ROOT))
}

/** Where the address of `perago dev` is while it runs. */
export const DEV_DATA_DIR = '.perago/dev'

/** Of `perago serve`. */
export const SERVE_PORT = 8090

/** Of `perago ui`. */
export const UI_PORT = 8095

/** The data directory of the embedded lakeFS. */
export const EMBEDDED_DATA_DIR = '.perago/lakefs'

/** What `perago completion` prints scripts for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export interface LakefsOptions {
  readonly host: string
  readonly port: number
  readonly data?: string
  readonly memory?: boolean
  readonly accessKey?: string
  readonly secretKey?: string
  readonly presign?: boolean
  readonly repository?: readonly string[]
  readonly logLevel: LogLevel
}

export interface DataOptions {
  readonly data?: string
  readonly json?: boolean
}

/** A TCP port; 0 asks for a free one. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

/** Seconds, of a time that a stop may take; a number without a unit counts as seconds. */
export function parseSeconds(text: string): number {
  const durationMs = parseDuration(/^\d{1,6}$/.test(text) ? `${text}s` : text) ?? 0
  if (durationMs >= 1_000 && durationMs <= STOP_DEADLINE_MAX_MS) return durationMs / 1_000
  throw new InvalidArgumentError('It is a duration from 1s to 24h, such as 30s or 5m.')
}

/** How many of something; at least one. */
export function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (count >= 1 && count <= COMMAND_COUNT_MAX) return count
  throw new InvalidArgumentError(`A count is a whole number from 1 to ${COMMAND_COUNT_MAX}.`)
}

/** How many of what is only read; at least one. */
export function parseWholeNumber(text: string): number {
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : NaN
  if (count >= 1) return count
  throw new InvalidArgumentError('It is a whole number from 1.')
}
