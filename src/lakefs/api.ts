/**
 * The operations of the contract, typed by it: paths, parameters and bodies are checked by the compiler, and what is sent
 * is a method, a path and a document. How it travels is for whoever calls.
 */

import type { Client } from 'openapi-fetch'
import type { paths } from './generated/lakefs-api.ts'

export type Api = Pick<Client<paths>, 'GET' | 'POST' | 'PUT' | 'DELETE'>

export type QueryValue = string | number | boolean | undefined | readonly (string | number | boolean)[]

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As the contract writes it, with the names of its parts in braces. */
  readonly template: string
  readonly names: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, QueryValue>>
  readonly headers: Readonly<Record<string, string>>
  /** The body; `undefined`: none. */
  readonly json: unknown
}

/** To be spread into each typed call: what makes it travel. */
export type CallInit = {
  readonly send: (request: ApiRequest) => Promise<{ readonly data?: unknown }>
}

interface GivenInit extends CallInit {
  readonly params?: {
    readonly path?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, QueryValue>>
    readonly header?: Readonly<Record<string, string>>
  }
  readonly body?: unknown
}

const call =
  (method: ApiRequest['method']) =>
  (template: string, { send, params, body }: GivenInit): Promise<{ readonly data?: unknown }> =>
    send({
      ...{ method, template, json: body },
      ...{ names: params?.path ?? {}, query: params?.query ?? {}, headers: params?.header ?? {} },
    })

/** Its types are those of the contract; what comes back is made sure of by whoever reads it. */
export const API = {
  GET: call('GET'),
  POST: call('POST'),
  PUT: call('PUT'),
  DELETE: call('DELETE'),
} as unknown as Api
