/** What commands can be told, as they get it. */

import { InvalidArgumentError } from 'commander'
import type { LogLevel } from '../base/logger.ts'

/** What every command that reads the configuration can be told. */
export interface ConfiguredOptions {
  readonly config?: string
  readonly logLevel?: LogLevel
  readonly json?: boolean
}

/** Somebody sits and waits: two tries tell as much as six. */
export const PATIENCE = { maxAttempts: 2, maxElapsedMs: 5_000 }

export interface LakefsOptions {
  readonly host: string
  readonly port: number
  readonly data?: string
  readonly memory?: boolean
  readonly accessKey?: string
  readonly secretKey?: string
  readonly presign?: boolean
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
