/** A server that lists and sends the objects of one commit as lakeFS does, except where a test says otherwise. */

import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { commitRef, repositoryName } from '../../src/base/ids.ts'
import { createLakefsClient, type LakefsClientOptions } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'

export const COMMIT = commitRef('c'.repeat(64))

/** Sends the object otherwise; `count`: how often it was asked for before. `false`: it is sent as usual. */
export type Sending = (path: string, count: number, response: ServerResponse, content: Buffer) => boolean

export interface ObjectsServer {
  readonly repo: VersionedRepo & Required<Pick<VersionedRepo, 'downloadFiles'>>
  /** How often each object was asked for. */
  readonly asked: ReadonlyMap<string, number>
  /** The most requests for objects at once. */
  readonly peak: () => number
}

export function md5Of(content: Uint8Array): string {
  return createHash('md5').update(content).digest('hex')
}

export async function startObjectsServer(
  objects: ReadonlyMap<string, Buffer>,
  { sending, ...options }: Partial<LakefsClientOptions> & { readonly sending?: Sending } = {},
): Promise<ObjectsServer> {
  const asked = new Map<string, number>()
  let running = 0
  let peak = 0
  const sendObject = (path: string, response: ServerResponse): void => {
    const content = objects.get(path)
    const count = asked.get(path) ?? 0
    asked.set(path, count + 1)
    peak = Math.max(peak, ++running)
    response.on('close', () => running--)
    if (content === undefined) return void response.writeHead(404).end()
    if (sending?.(path, count, response, content) === true) return
    sendAsStored(response, content)
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    if (url.pathname.endsWith('/config')) sendJson(response, CONFIG)
    else if (url.pathname.endsWith('/objects/ls')) sendJson(response, listing(objects, url.searchParams))
    else if (url.pathname.endsWith('/objects')) sendObject(url.searchParams.get('path') ?? '', response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = createLakefsClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyId: 'AKIATEST',
    secretAccessKey: 'very-secret-value',
    ...options,
  })
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const repo = openLakefsRepo(client, repositoryName('repo'))
  const downloadFiles = repo.downloadFiles?.bind(repo)
  if (downloadFiles === undefined) throw new Error('the repository cannot download files')
  return { repo: { ...repo, downloadFiles }, asked, peak: () => peak }
}

export function sendAsStored(response: ServerResponse, content: Buffer, etag = md5Of(content)): void {
  response.writeHead(200, { etag: `"${etag}"`, 'content-length': content.length }).end(content)
}

const CONFIG = { storage_config: { blockstore_type: 'local' }, version_config: { version: 'x' } }

function sendJson(response: ServerResponse, json: object): void {
  const text = JSON.stringify(json)
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): object {
  const after = query.get('after') ?? ''
  const amount = Number(query.get('amount'))
  const prefix = query.get('prefix') ?? ''
  const paths = [...objects.keys()].sort().filter((path) => path > after && path.startsWith(prefix))
  const results = paths.slice(0, amount).map((path) => {
    const content = objects.get(path) ?? Buffer.alloc(0)
    const checksum = md5Of(content)
    return {
      path,
      path_type: 'object',
      checksum,
      size_bytes: content.length,
      mtime: 1,
      physical_address: path,
    }
  })
  const has_more = paths.length > amount
  return {
    results,
    pagination: {
      has_more,
      next_offset: results.at(-1)?.path ?? '',
      results: results.length,
      max_per_page: 1000,
    },
  }
}
