/**
 * What only our own engines can do: requests to their HTTP API, answered with documents or with their errors. The engine is the one of
 * `--server`; otherwise that of `perago dev` in this directory; otherwise the `perago serve --engine` that is configured as workers have
 * it: its address as that of Conductor, its token as the secret.
 */

import { resolve } from 'node:path'
import { DefectError, InvalidError, UncertainError, messageOf } from '../base/errors.ts'
import { readToldError } from '../base/told-error.ts'
import { loadForCommand } from './configured.ts'
import { DEV_DATA_DIR, type ConfiguredOptions } from './options.ts'
import { readServerAddress } from './server-address.ts'
import type { Terminal } from './terminal.ts'

export interface EngineOptions extends ConfiguredOptions {
  readonly server?: string
  /** `env:NAME`. */
  readonly token?: string
}

export interface EngineServer {
  /** Throws what the engine answers with. */
  ask<T>(path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<T>
}

/** Throws `cli/no-engine` where there is none. */
export async function findEngine(options: EngineOptions, terminal: Terminal): Promise<EngineServer> {
  const place = await findPlace(options, terminal)
  return {
    ask: async <T>(path: string, body?: object, more?: Readonly<Record<string, string>>): Promise<T> => {
      const response = await send(place, path, { body, more })
      const document: unknown = await response.json().catch(() => undefined)
      if (response.ok) return document as T
      throw readToldError(document, { read: 'the execution' }) ?? strangeAnswer(place, response.status)
    },
  }
}

interface Place {
  readonly url: string
  readonly token: string | undefined
}

async function findPlace(options: EngineOptions, terminal: Terminal): Promise<Place> {
  const place =
    options.server === undefined ? await findPlaceHere(options, terminal) : named(options, terminal)
  return { ...place, url: place.url.replace(/\/+$/, '').replace(/\/api$/, '') }
}

async function findPlaceHere(options: EngineOptions, terminal: Terminal): Promise<Place> {
  const dev = await readServerAddress(resolve(terminal.directory, DEV_DATA_DIR))
  if (dev !== undefined) return { url: dev, token: undefined }
  const { configuration } = await loadForCommand(options, terminal)
  const { serverUrl: url, auth } = configuration.conductor
  if (url === undefined) {
    throw new InvalidError(
      'cli/no-engine',
      'find an engine: none runs in this directory, and none is configured',
      {
        next: 'Start "perago dev MODULE" in this directory, or name a "perago serve --engine" with --server.',
      },
    )
  }
  if (options.json !== true) terminal.say(terminal.style.faint(`on ${url}\n`))
  return { url, token: auth?.secret }
}

/** The configured secret is for the configured server alone. */
function named({ server = '', token }: EngineOptions, terminal: Terminal): Place {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new InvalidError(
      'cli/bad-usage',
      'read the command line: --server must be an http or https address',
    )
  }
  if (token === undefined) return { url: server, token }
  const [, variable = ''] = /^env:(.+)$/.exec(token) ?? []
  const value = terminal.environment[variable]
  if (value === undefined || value === '') {
    throw new InvalidError(
      'cli/bad-usage',
      'read the command line: --token must be env:NAME, of a variable that is set',
      {
        next: 'Put the token into a variable, such as SERVER_TOKEN, and give --token env:SERVER_TOKEN.',
      },
    )
  }
  terminal.keepSecret(value)
  return { url: server, token: value }
}

async function send(
  { url, token }: Place,
  path: string,
  {
    body,
    more,
  }: { readonly body: object | undefined; readonly more: Readonly<Record<string, string>> | undefined },
): Promise<Response> {
  const headers = {
    ...more,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  try {
    return await fetch(
      `${url}${path}`,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    )
  } catch (error) {
    throw new UncertainError('cli/engine-gone', `ask the engine at ${url}: ${messageOf(error)}`, {
      read: 'the execution',
      cause: error,
    })
  }
}

/** Conductor answers so: it has none of these routes. */
function strangeAnswer({ url }: Place, status: number): Error {
  const what = `ask the engine at ${url}: it answered ${status}`
  return status >= 500
    ? new DefectError('cli/strange-answer', what)
    : new InvalidError('cli/no-engine', `${what}, and is none of perago`, {
        next: 'Name a "perago serve --engine" with --server. A Conductor has no checkpoints, and cannot roll back.',
      })
}
