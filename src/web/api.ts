/** Asks the HTTP API, with the types of its contract. */

import { signal } from '@preact/signals'
import type { components, paths } from '../client/generated/perago-api.ts'

export type Schemas = components['schemas']
type Method = 'get' | 'post' | 'delete'
type Operation<P extends keyof paths, M extends Method> = paths[P][M]
type Json<R> = R extends { readonly content: { readonly 'application/json': infer T } } ? T : undefined
type Answer<O> = O extends { readonly responses: infer R }
  ? R extends { readonly 200: infer T }
    ? Json<T>
    : R extends { readonly 201: infer T }
      ? Json<T>
      : R extends { readonly 202: infer T }
        ? Json<T>
        : undefined
  : never
type Parameters<O, Kind extends 'query' | 'path'> = O extends { readonly parameters: infer P }
  ? Kind extends keyof P
    ? NonNullable<P[Kind]>
    : object
  : object
type Body<O> = O extends { readonly requestBody?: infer B } ? Json<NonNullable<B>> : undefined

/** The paths of the contract that take a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends undefined ? never : P
}[keyof paths]

export interface Question<P extends keyof paths, M extends Method> {
  readonly path?: Parameters<Operation<P, M>, 'path'>
  readonly query?: Parameters<Operation<P, M>, 'query'>
  readonly body?: Body<Operation<P, M>>
  readonly signal?: AbortSignal | undefined
}

/** What the server answers instead, or why there was no answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** What to do next. */
  readonly next: string | undefined

  constructor({
    status,
    code,
    message,
    next,
  }: {
    status: number
    code: string
    message: string
    next?: string
  }) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.next = next
  }
}

/** Whether the last request was answered at all, and when one was. */
export const connection = signal<{ readonly isGone: boolean; readonly answeredAt: number }>({
  isGone: false,
  answeredAt: Date.now(),
})

/** Whether the session has ended: the page asks to log in again. */
export const isLoggedOut = signal(false)

export function get<P extends PathOf<'get'>>(
  path: P,
  question: Question<P, 'get'> = {},
): Promise<Answer<Operation<P, 'get'>>> {
  return ask('GET', path, question) as Promise<Answer<Operation<P, 'get'>>>
}

export function post<P extends PathOf<'post'>>(
  path: P,
  question: Question<P, 'post'> = {},
): Promise<Answer<Operation<P, 'post'>>> {
  return ask('POST', path, question) as Promise<Answer<Operation<P, 'post'>>>
}

export async function logOut(): Promise<void> {
  await ask('DELETE', '/session', {})
  isLoggedOut.value = true
}

/** A part of an object. */
export async function readBytes(
  repository: string,
  query: { readonly at: string; readonly path: string; readonly start?: number; readonly length?: number },
  signal?: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly sizeBytes: number }> {
  const address = fill('/repositories/{repository}/object', { path: { repository }, query })
  const response = await request(address, { method: 'GET', signal })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { bytes, sizeBytes: Number(response.headers.get('perago-object-size') ?? bytes.length) }
}

/** What it cannot do at present comes with another status, and is an answer all the same. */
export async function readHealth(signal: AbortSignal): Promise<Schemas['Health']> {
  const response = await fetch('./healthz', { signal })
  return (await response.json()) as Schemas['Health']
}

/** Opens a stream of server-sent events, behind the one with this id. */
export async function openStream<P extends PathOf<'get'>>(
  path: P,
  question: Question<P, 'get'>,
  lastId: string | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const { body } = await request(fill(path, question), {
    method: 'GET',
    signal: question.signal,
    ...(lastId !== undefined && { headers: { 'last-event-id': lastId } }),
  })
  return body ?? new ReadableStream({ start: (controller) => controller.close() })
}

/** Where older data is shown, the line about the connection says enough. */
export function unlessGone(error: unknown): unknown {
  return error instanceof ApiError && error.status === 0 ? undefined : error
}

/** For streams, which break after they were answered. */
export function noteBroken(): void {
  connection.value = { ...connection.peek(), isGone: true }
}

interface AnyQuestion {
  readonly path?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

async function ask(method: string, path: string, question: AnyQuestion): Promise<unknown> {
  const { body, signal } = question
  const response = await request(fill(path, question), {
    ...{ method, signal },
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return response.status === 204 ? undefined : response.json()
}

async function request(
  address: string,
  { signal, ...rest }: Omit<RequestInit, 'signal'> & { readonly signal: AbortSignal | undefined },
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(`.${address}`, {
      ...rest,
      ...(signal !== undefined && { signal }),
      credentials: 'same-origin',
    })
  } catch (error) {
    if (signal?.aborted !== true) connection.value = { ...connection.peek(), isGone: true }
    throw signal?.aborted === true ? error : new ApiError({ status: 0, code: 'page/no-answer', ...NO_ANSWER })
  }
  connection.value = { isGone: false, answeredAt: Date.now() }
  if (response.ok) return response
  const failure = await readFailure(response)
  if (response.status === 401 && address !== '/session') isLoggedOut.value = true
  throw failure
}

const NO_ANSWER = {
  message: 'The server does not answer.',
  next: 'It is asked again until it does; look whether it still runs.',
}

async function readFailure(response: Response): Promise<ApiError> {
  const { status } = response
  const given = (await response.json().catch(() => undefined)) as
    | { readonly error?: { readonly code?: string; readonly message?: string; readonly next?: string } }
    | undefined
  const {
    code = 'page/no-reason',
    message = `The server answered ${String(status)}.`,
    next,
  } = given?.error ?? {}
  return new ApiError({ status, code, message, ...(next !== undefined && { next }) })
}

/** The address of a request, below that of the page. */
function fill(path: string, { path: names, query }: AnyQuestion): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((names as Record<string, string> | undefined)?.[name] ?? ''),
  )
  const given = Object.entries((query as Record<string, unknown> | undefined) ?? {})
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((each: unknown) => [name, each]))
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => [String(name), String(value)])
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given).toString()}`
}
