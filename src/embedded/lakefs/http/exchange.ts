/** What a handler is given: one request, read through strict readers, and the parts of the server. */

import type { IncomingMessage } from 'node:http'

import type { Clock } from '../../../base/clock.ts'
import { invariant } from '../../../base/errors.ts'
import type { ActionRuns } from '../actions/action-runs.ts'
import type { LakefsEngine } from '../engine/engine.ts'
import { HttpProblem, type Answer } from './answer.ts'
import type { Authenticator } from './authenticate.ts'
import { Fields, readJson } from './json-body.ts'
import type { PresignedUploads } from './presigned-uploads.ts'
import { Query } from './query.ts'
import type { Signatures } from './signatures.ts'

export interface ServerParts {
  readonly engine: LakefsEngine
  readonly clock: Clock
  readonly authenticator: Authenticator
  readonly signatures: Signatures
  readonly uploads: PresignedUploads
  readonly runs: ActionRuns
  readonly presign: boolean
  readonly objectMaxBytes: number
  readonly jsonMaxBytes: number
  /** The one user there is; also the committer of every commit. */
  readonly userId: string
  readonly startedAt: number
}

export const REPOSITORY_NAME = /^[a-z0-9][a-z0-9-]{2,62}$/

export type Handler = (exchange: Exchange) => Answer | Promise<Answer>

export class Exchange {
  readonly request: IncomingMessage
  readonly parts: ServerParts
  readonly query: Query
  readonly #segments: Readonly<Record<string, string>>

  constructor(
    request: IncomingMessage,
    parts: ServerParts,
    route: { readonly segments: Readonly<Record<string, string>>; readonly rawQuery: string },
  ) {
    this.request = request
    this.parts = parts
    this.query = new Query(route.rawQuery)
    this.#segments = route.segments
  }

  get engine(): LakefsEngine {
    return this.parts.engine
  }

  get repository(): string {
    const name = this.segment('repository')
    if (REPOSITORY_NAME.test(name)) return name
    throw new HttpProblem(400, 'argument repository: repository id: invalid value: validation error')
  }

  get branch(): string {
    return this.segment('branch')
  }

  get ref(): string {
    return this.segment('ref')
  }

  segment(name: string): string {
    const value = this.#segments[name]
    invariant(value !== undefined, `the route has a segment ${name}`)
    return value
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  async fields(): Promise<Fields> {
    return new Fields(await this.body())
  }

  /** For bodies that may be left out altogether. */
  async optionalFields(): Promise<Fields> {
    return new Fields(
      (await readJson(this.request, { maxBytes: this.parts.jsonMaxBytes, optional: true })) ?? {},
    )
  }

  /** For bodies that are no object. */
  async body(): Promise<unknown> {
    return readJson(this.request, { maxBytes: this.parts.jsonMaxBytes })
  }

  /** Unix seconds. */
  now(): number {
    return Math.floor(this.parts.clock.now().getTime() / 1000)
  }

  /** Where this client reaches the server; behind a port mapping only the client knows. */
  baseUrl(): string {
    const { localAddress, localPort } = this.request.socket
    const host = this.header('host')
    if (host !== undefined && /^[\w.\-:[\]]+$/.test(host)) return `http://${host}`
    return `http://${localAddress?.includes(':') === true ? `[${localAddress}]` : (localAddress ?? '')}:${String(localPort)}`
  }
}
