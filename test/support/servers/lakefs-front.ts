// An embedded lakeFS behind two proxies, one before its API and one before its object store: each can be away alone.
import { createServer, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startEmbeddedLakefs } from '../../../src/embedded/lakefs/server.ts'
import { LAKEFS_KEY } from './lakefs.ts'
import { makeDirectory, removeDirectory } from './process.ts'
import type { RestartableLakefs } from './restartable-lakefs.ts'
import { suiteOf } from './suite-lakefs.ts'

export interface LakefsOutage {
  readonly of: 'lakefs' | 'object-store'
  /** What is answered to every request; `cut`: nothing is. */
  readonly answer: 503 | 'cut'
}

/** `kill` begins the outage, and `start` ends it. The object store is reached by presigned addresses. */
export async function openLakefsBehindFronts({ of, answer }: LakefsOutage): Promise<RestartableLakefs> {
  const directory = makeDirectory('lakefs-fronts')
  const lakefs = await startEmbeddedLakefs({ dataDir: directory, ...LAKEFS_KEY, presign: true })
  const away = new Set<LakefsOutage['of']>()
  const open = (part: LakefsOutage['of'], host?: string): Promise<Server> =>
    openFront(lakefs.url, host, () => (away.has(part) ? answer : 'pass'))
  const store = await open('object-store')
  // The server makes presigned addresses of the host that it is asked for.
  const api = await open('lakefs', hostOf(store))
  return {
    ...suiteOf({
      ...{ url: `http://${hostOf(api)}`, ...LAKEFS_KEY, storageNamespace: 'local://perago-tests' },
      async close() {
        for (const front of [api, store]) await closeFront(front)
        await lakefs.close()
        removeDirectory(directory)
      },
    }),
    isReal: false,
    kill: () => Promise.resolve(void away.add(of)),
    start: () => Promise.resolve(void away.delete(of)),
  }
}

async function openFront(
  target: string,
  host: string | undefined,
  verdict: () => LakefsOutage['answer'] | 'pass',
): Promise<Server> {
  const front = createServer((request, response) => {
    const told = verdict()
    if (told === 'cut') return void request.socket.destroy()
    if (told !== 'pass') return void request.resume().once('end', () => response.writeHead(told).end('away'))
    const { method, url = '/', headers } = request
    const forwarded = send(target + url, {
      method,
      headers: host === undefined ? headers : { ...headers, host },
    })
    forwarded.once('error', () => response.destroy())
    forwarded.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return front
}

function hostOf(front: Server): string {
  return `127.0.0.1:${(front.address() as AddressInfo).port}`
}

async function closeFront(front: Server): Promise<void> {
  const closed = new Promise((resolve) => front.close(resolve))
  front.closeAllConnections()
  await closed
}
