// Keeps definitions as Conductor does, and nothing else of it: enough for what a command shows of them. That perago
// reads and writes a real server's definitions rightly is held by test/conformance/task-queue-definitions.ts.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Definition {
  readonly name: string
  readonly version?: number
}

export interface DefinitionServer {
  readonly url: string
  readonly tasks: Map<string, Definition>
  /** By name and version. */
  readonly workflows: Map<string, Definition>
  /** Workflows that have not ended, as a search shows them. */
  readonly open: object[]
  close(): Promise<void>
}

export async function openDefinitionServer(): Promise<DefinitionServer> {
  const tasks = new Map<string, Definition>()
  const workflows = new Map<string, Definition>()
  const open: object[] = []
  const put = (into: Map<string, Definition>, bodies: readonly Definition[]): void => {
    for (const body of bodies) into.set(keyOf(body), body)
  }
  const answer = async (request: IncomingMessage): Promise<{ status: number; body?: unknown }> => {
    const url = new URL(request.url ?? '', 'http://server')
    const [, , what, kind, name] = url.pathname.split('/')
    if (url.pathname === '/api/version') return { status: 200, body: '3.32.3' }
    if (url.pathname === '/health') return { status: 200, body: { healthy: true } }
    if (url.pathname === '/api/workflow/search-v2')
      return { status: 200, body: { totalHits: open.length, results: open } }
    if (url.pathname === '/api/tasks/queue/all') return { status: 200, body: {} }
    if (url.pathname === '/api/tasks/queue/polldata') return { status: 200, body: [] }
    if (what !== 'metadata') return { status: 404 }
    const store = kind === 'taskdefs' ? tasks : workflows
    if (request.method === 'GET') {
      const version = Number(url.searchParams.get('version') ?? 1)
      const found = store.get(
        keyOf({ name: decodeURIComponent(name ?? ''), ...(store === tasks ? {} : { version }) }),
      )
      return found === undefined ? { status: 404 } : { status: 200, body: found }
    }
    const body = JSON.parse(await textOf(request)) as Definition | readonly Definition[]
    put(store, Array.isArray(body) ? (body as readonly Definition[]) : [body as Definition])
    return request.method === 'PUT' && store === workflows
      ? { status: 200, body: { bulkErrorResults: {}, bulkSuccessfulResults: [] } }
      : { status: 200 }
  }
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => {
        const missing = { status, message: 'No such definition', instance: 'here', retryable: false }
        const sent = status === 404 ? missing : body
        if (typeof sent === 'string') response.writeHead(status, { 'content-type': 'text/plain' }).end(sent)
        else if (sent === undefined) response.writeHead(status).end()
        else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent))
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    tasks,
    workflows,
    open,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function keyOf({ name, version }: Definition): string {
  return version === undefined ? name : `${name} ${version}`
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
