/** The connections of a PostgreSQL store, and what their failures mean. */

import type { Client, Pool, PoolClient, QueryResultRow } from 'pg'
import { InvalidError, type PeragoError } from '../../base/errors.ts'
import { STORE_CONNECT_TIMEOUT_MS } from '../limits.ts'
import { loadDriver } from '../driver.ts'
import { answerLost, bounded, notDone, type Work } from '../failures.ts'

export interface Statement {
  /** Prepared under this name, once for each connection. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export interface ConnectionsOptions {
  readonly url: string
  readonly connections: number
  readonly answerTimeoutMs: number
}

/** What the server says while it ends: it may have committed just before. */
const ENDING = new Set(['57P01', '57P02'])
/** Classes of answers that stay the same however often one asks: access, names, syntax. */
const LASTING = /^(28|3D|3F|42)/

export class Connections {
  readonly #pool: Pool
  readonly #openClient: () => Client
  readonly #answerTimeoutMs: number

  private constructor(pool: Pool, openClient: () => Client, answerTimeoutMs: number) {
    this.#pool = pool
    this.#openClient = openClient
    this.#answerTimeoutMs = answerTimeoutMs
  }

  static async open({ url, connections, answerTimeoutMs }: ConnectionsOptions): Promise<Connections> {
    const { default: pg } = await loadDriver('pg@8', () => import('pg'))
    const settings = {
      connectionString: url,
      connectionTimeoutMillis: STORE_CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'perago',
      // The server gives up by itself what nobody waits for any more.
      statement_timeout: answerTimeoutMs,
    }
    const pool = new pg.Pool({ ...settings, max: connections, allowExitOnIdle: true })
    // A connection that breaks while nobody uses it is replaced by the next one who needs it.
    pool.on('error', () => undefined)
    // One that breaks while it is lent out tells its query; unheard, it would tell the whole process too.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return new Connections(pool, () => new pg.Client(settings), answerTimeoutMs)
  }

  async query<Row extends QueryResultRow>(
    work: Work,
    { name, text, values }: Statement,
    signal: AbortSignal | undefined,
  ): Promise<readonly Row[]> {
    const client = await this.#connect(work, signal)
    let failure: Error | undefined
    try {
      const running = client.query<Row>({ name, text, values: [...values] })
      const { rows } = await bounded(running, { timeoutMs: this.#answerTimeoutMs, signal })
      return rows
    } catch (error) {
      const failed = failureOf(work, error)
      // Whatever the server did not answer in order is on a connection nobody should use again.
      if (!isAnswer(error)) failure = failed
      throw failed
    } finally {
      client.release(failure)
    }
  }

  /** Statements of one transaction. */
  async transaction(work: Work, run: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await this.#connect(work, undefined)
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      await run(client)
      await client.query('COMMIT')
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw failureOf(work, error)
    } finally {
      client.release(failure)
    }
  }

  /** A connection of its own, for listening. */
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

  async #connect(work: Work, signal: AbortSignal | undefined): Promise<PoolClient> {
    const connecting = this.#pool.connect()
    try {
      return await bounded(connecting, {
        timeoutMs: this.#answerTimeoutMs,
        signal,
        // It may still be given to us when we have left.
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
  return new InvalidError(
    'stores/refused-by-server',
    `${work.doing} (${work.store}): the server answered ${error.code}: ${error.message}`,
    {
      details: { store: work.store, answer: error.code },
      next: 'Check the address, the user’s rights and the schema.',
      cause: error,
    },
  )
}

/** An error of the server itself, which has ended the transaction, and not of the way to it. */
function isAnswer(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[0-9A-Z]{5}$/.test(error.code)
  )
}
