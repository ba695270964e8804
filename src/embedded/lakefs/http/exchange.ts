/** What a handler is given: one request, read through strict readers, and the parts of the server. */

import type { IncomingMessage } from 'node:http'

import type { Clock } from '../../../base/clock.ts'
import { invariant } from '../../../base/errors.ts'
import type { ActionRuns } from '../actions/action-runs.ts'
import type { Entry } from '../engine/engine.ts'
import type { LakefsEngine } from '../engine/open-engine.ts'
import { REPOSITORY_NAME } from '../engine/names.ts'
import { HttpProblem, type Answer } from './answer.ts'
import type { Authenticator } from './authenticate.ts'
import type { Reader } from './json-body.ts'
import type { PresignedUploads } from './presigned-uploads.ts'
import { Query } from './query.ts'
import type { PresignedGrant, Signatures } from './signatures.ts'

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
  /** Time for the body of an operation that anybody may call. */
  readonly openBodyMs: number
  /** The only user; also the committer of every commit. */
  readonly userId: string
  readonly startedAt: number
}

/** Reads the JSON body and checks it with the schema of the operation. */
export type ReadBody<Schema extends Reader<unknown>> = () => Promise<ReturnType<Schema>>

export type Handler<Body = undefined> = (
  exchange: Exchange,
  readBody: ReadBody<Reader<Body>>,
) => Answer | Promise<Answer>

/** Of whoever is connected; behind a proxy, the proxy's. */
export function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? ''
}

export const PRESIGN_NOT_OFFERED = 'local adapter presigned URL: operation not supported'
const READ_GRANT = { method: 'GET', uploadId: '', partNumber: 0 } as const

export class Exchange {
  readonly request: IncomingMessage
  readonly parts: ServerParts
  readonly query: Query
  readonly #segments: Readonly<Record<string, string>>

  constructor(
    request: IncomingMessage,
    parts: ServerParts,
    target: { readonly segments: Readonly<Record<string, string>>; readonly rawQuery: string },
  ) {
    this.request = request
    this.parts = parts
    this.query = new Query(target.rawQuery)
    this.#segments = target.segments
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

  get callerAddress(): string {
    return addressOf(this.request)
  }

  /** Unix seconds. */
  now(): number {
    return Math.floor(this.parts.clock.now().getTime() / 1000)
  }

  /** A presigned address, and when it expires in Unix seconds. A server that does not offer them answers 400. */
  presign(grant: PresignedGrant): { readonly url: string; readonly expiry: number } {
    if (!this.parts.presign) throw new HttpProblem(400, PRESIGN_NOT_OFFERED)
    const { target, expiresAt } = this.parts.signatures.presign(grant)
    return { url: `${this.#baseUrl()}${target}`, expiry: Math.floor(expiresAt / 1000) }
  }

  /** A presigned address of the bytes of an entry, as stat and listings show it. */
  presignEntry(entry: Entry): {
    readonly physical_address: string
    readonly physical_address_expiry: number
  } {
    const { physicalAddress, checksum } = entry
    const { repository } = this
    const { url, expiry } = this.presign({ ...READ_GRANT, repository, physicalAddress, checksum })
    return { physical_address: url, physical_address_expiry: expiry }
  }

  /** Where this client reaches the server; behind a port mapping only the client knows. */
  #baseUrl(): string {
    const { localAddress, localPort } = this.request.socket
    const host = this.header('host')
    if (host !== undefined && /^[\w.\-:[\]]+$/.test(host)) return `http://${host}`
    return `http://${localAddress?.includes(':') === true ? `[${localAddress}]` : (localAddress ?? '')}:${String(localPort)}`
  }
}
