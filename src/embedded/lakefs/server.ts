/**
 * The embedded lakeFS-compatible server, started inside this process: on a data directory or wholly in memory.
 *
 * It speaks as much of lakeFS' API as publishing needs, and answers as the real server was seen to answer.
 */

import type { FaultPlan } from './faults.ts'

export interface EmbeddedLakefsLimits {
  /** The largest object, whatever way it is uploaded. */
  readonly objectBytes: number
  /** The largest JSON body; it is the only kind that is held in memory. */
  readonly jsonBytes: number
  /** How long `close()` lets requests under way finish before it cuts them. */
  readonly closeMs: number
  /** How long one action hook may run. */
  readonly hookMs: number
  /** What one action hook may allocate. */
  readonly hookMemoryBytes: number
}

export interface EmbeddedLakefsOptions {
  /** Loopback unless named otherwise; any other host is warned about in `warnings`. */
  readonly host?: string
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** Where everything is kept. Left out: in memory, and gone after `close()`. */
  readonly dataDir?: string
  /** Both or neither. Without them the stored pair is used, or one is generated (and stored with a data directory). */
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  /** Offer presigned addresses, as lakeFS does over an object store. */
  readonly presign?: boolean
  readonly limits?: Partial<EmbeddedLakefsLimits>
  readonly faults?: FaultPlan
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** Told about what went wrong inside; never about credentials. */
  readonly log?: (entry: EmbeddedLakefsLogEntry) => void
}

export interface EmbeddedLakefsLogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface EmbeddedLakefs {
  /** `http://127.0.0.1:PORT`, without the API's base path. */
  readonly url: string
  readonly host: string
  readonly port: number
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** True when this very start made the credentials: the one time to show them. */
  readonly generated: boolean
  /** What a door must show loudly, one line each. */
  readonly warnings: readonly string[]
  readonly faults: FaultPlan
  /** Takes no new connection, lets requests under way end, then closes the files. May be called twice. */
  close(): Promise<void>
}

/** Starts a server; it listens when the promise settles. */
export function startEmbeddedLakefs(options: EmbeddedLakefsOptions = {}): Promise<EmbeddedLakefs> {
  return Promise.reject(
    new Error(`start the embedded lakeFS on ${options.host ?? '127.0.0.1'}: not wired yet`),
  )
}
