// A proxy between a worker and a Conductor, or a lakeFS: counts requests, and lets a test delay or lose one.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PassingRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Of an update: what it says. */
  readonly update: {
    readonly taskId?: string
    readonly status?: string
    readonly workerId?: string
    readonly extendLease?: boolean
  }
}

/** Awaited before a request is forwarded; `lose` closes the connection instead, a status is sent as the response instead. */
export type Interference = (request: PassingRequest) => Verdict | Promise<Verdict>

type Verdict = 'pass' | 'lose' | number | InPlace

/** An answer of something that is not the server. */
export interface InPlace {
  readonly status: number
  readonly type?: string
  readonly text?: string
  readonly location?: string
}

export interface ConductorFront {
  readonly url: string
  interfere: Interference
  close(): Promise<void>
}

export async function openConductorFront(target: string): Promise<ConductorFront> {
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  const front: ConductorFront = {
    url: '',
    interfere: () => 'pass',
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const { method = 'GET', url = '/' } = request
    const path = url.replace(/\?.*/, '')
    const verdict = await front.interfere({ method, path, update: readUpdate(method, path, body) })
    if (verdict === 'lose') {
      response.destroy()
      return
    }
    if (verdict !== 'pass') {
      const told: InPlace = typeof verdict === 'number' ? { status: verdict, text: 'told to' } : verdict
      const { status, type = 'text/plain', text = '', location } = told
      response
        .writeHead(status, { 'content-type': type, ...(location !== undefined && { location }) })
        .end(text)
      return
    }
    const { authorization, range, 'content-type': type } = request.headers
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: {
        ...(type && { 'content-type': type }),
        ...(authorization && { authorization }),
        ...(range && { range }),
      },
      ...(body.length === 0 ? {} : { body }),
    })
    const answered = Buffer.from(await answer.arrayBuffer())
    const answeredType = answer.headers.get('content-type')
    response.writeHead(answer.status, answeredType === null ? {} : { 'content-type': answeredType })
    response.end(answered)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(front, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function readUpdate(method: string, path: string, body: Buffer): PassingRequest['update'] {
  if (method !== 'POST' || !UPDATES.has(path)) return {}
  return JSON.parse(body.toString()) as PassingRequest['update']
}

/** The second one is what Conductor's own clients send. */
const UPDATES: ReadonlySet<string> = new Set(['/api/tasks', '/api/tasks/update-v2'])
