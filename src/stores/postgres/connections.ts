/** The connections of a PostgreSQL store, and what their errors mean. */

import type { Client, Pool, PoolClient, QueryResultRow } from 'pg'
import { messageOf, type InvalidError, type PeragoError } from '../../base/errors.ts'
import { STORE_CONNECT_TIMEOUT_MS } from '../limits.ts'
import { loadDriver } from '../driver.ts'
import { answerLost, bounded, notDone, refusedByServer, type Work } from '../failures.ts'

export interface Statement {
  /** Prepared under this name, once per connection. */
  readonly name: string
  readonly text: string
  readonly values?: readonly unknown[]
}

export interface ConnectionsOptions {
  readonly url: string
  readonly connections: number
  readonly answerTimeoutMs: number
}

/** To find a page, a bitmap would read its whole range, and the planner takes ranges for short. */
const SETTINGS = 'SET enable_bitmapscan = off'
/** The server is shutting down: it may have committed before. */
const ENDING = new Set(['57P01', '57P02'])
/** Error classes that do not change on a retry: access, names, syntax. */
const LASTING = /^(28|3D|3F|42)/

export class Connections {
  readonly #pool: Pool
  readonly #openClient: () => Client
  readonly answerTimeoutMs: number
  /** Connections that have their settings. */
  readonly #set = new WeakSet<PoolClient>()

  private constructor(pool: Pool, openClient: () => Client, answerTimeoutMs: number) {
    this.#pool = pool
    this.#openClient = openClient
    this.answerTimeoutMs = answerTimeoutMs
  }

  static async open({ url, connections, answerTimeoutMs }: ConnectionsOptions): Promise<Connections> {
    const { default: pg } = await loadDriver('pg@8', () => import('pg'))
    const settings = {
      connectionString: url,
      connectionTimeoutMillis: STORE_CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'perago',
      // The server stops statements that the client no longer waits for.
      statement_timeout: answerTimeoutMs,
    }
    const pool = new pg.Pool({ ...settings, max: connections, allowExitOnIdle: true })
    // The pool replaces an idle connection that breaks.
    pool.on('error', () => undefined)
    // The query in progress reports it; an unhandled event would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return new Connections(pool, () => new pg.Client(settings), answerTimeoutMs)
  }

  async query<Row extends QueryResultRow>(
    work: Work,
    { name, text, values = [] }: Statement,
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const client = await this.#connect(work, signal)
    let failure: Error | undefined
    try {
      await this.#prepare(client, signal)
      const running = client.query<Row>({ name, text, values: [...values] })
      const { rows } = await bounded(running, { timeoutMs: this.answerTimeoutMs, signal })
      return rows
    } catch (error) {
      const failed = failureOf(work, error)
      // Without a proper response the state of the connection is unknown: it is not used again.
      if (!isAnswer(error)) failure = failed
      throw failed
    } finally {
      client.release(failure)
    }
  }

  /** Runs statements in one transaction. */
  async transaction<T>(work: Work, run: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(work, undefined)
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      const result = await run(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      failure = error instanceof Error ? error : new Error(messageOf(error))
      throw failureOf(work, error)
    } finally {
      client.release(failure)
    }
  }

  /** A separate connection, for LISTEN. */
  async openClient(work: Work): Promise<Client> {
    const client = this.#openClient()
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw connectFailure(work, error)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** Once per connection, and not among the parameters of its start, of which poolers refuse some. */
  async #prepare(client: PoolClient, signal: AbortSignal | undefined): Promise<void> {
    if (this.#set.has(client)) return
    await bounded(client.query(SETTINGS), { timeoutMs: this.answerTimeoutMs, signal })
    this.#set.add(client)
  }

  async #connect(work: Work, signal: AbortSignal | undefined): Promise<PoolClient> {
    const connecting = this.#pool.connect()
    try {
      return await bounded(connecting, {
        timeoutMs: this.answerTimeoutMs,
        signal,
        // The pool may still deliver it after we have given up.
        giveUp: () => void connecting.then((client) => client.release()).catch(() => undefined),
      })
    } catch (error) {
      throw connectFailure(work, error)
    }
  }
}

function connectFailure(work: Work, error: unknown): PeragoError {
  return isAnswer(error) && LASTING.test(error.code) ? refused(work, error) : notDone(work, error)
}

function failureOf(work: Work, error: unknown): PeragoError {
  if (!isAnswer(error) || ENDING.has(error.code)) return answerLost(work, error)
  return LASTING.test(error.code) ? refused(work, error) : notDone(work, error)
}

function refused(work: Work, error: Error & { readonly code: string }): InvalidError {
  return refusedByServer(work, ` ${error.code}: ${error.message}`, {
    details: { answer: error.code },
    next: 'Check the address, the user’s permissions and the schema.',
    cause: error,
  })
}

/** An error reported by the server, which has ended the transaction; not one of the connection. */
export function isAnswer(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[0-9A-Z]{5}$/.test(error.code)
  )
}
