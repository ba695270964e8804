/** Plain requests to a lakeFS-compatible server, sent untouched, with every answer shown as it came. */

import http from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** Undefined when the body is no JSON. */
  readonly json: unknown
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[]>>
  readonly json?: unknown
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** `none` sends no credentials; any other text is the header itself. */
  readonly authorization?: string
}

export interface ServerAddress {
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** One repository of one server, with short names for what most tests do. */
export class LakefsRequests {
  readonly url: string
  readonly repository: string
  readonly #authorization: string
  readonly #agent = new http.Agent({ keepAlive: true })

  constructor(server: ServerAddress, repository: string) {
    this.url = server.url
    this.repository = repository
    const pair = `${server.accessKeyId}:${server.secretAccessKey}`
    this.#authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }

  /** `path` below the API's base path; a leading `~` is the repository. */
  send(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const query = queryText(options.query ?? {})
    const target = `/api/v1${path.replace(/^~/, `/repositories/${this.repository}`)}${query}`
    const headers: Record<string, string> = { ...options.headers }
    if (options.authorization !== 'none')
      headers['authorization'] = options.authorization ?? this.#authorization
    let body = options.body
    if (options.json !== undefined) {
      headers['content-type'] ??= 'application/json'
      body = JSON.stringify(options.json)
    }
    return this.sendTo(method, `${this.url}${target}`, { headers, ...(body === undefined ? {} : { body }) })
  }

  sendTo(
    method: string,
    url: string,
    options: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer } = {},
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const length = Buffer.byteLength(options.body ?? '')
      const request = http.request({
        agent: this.#agent,
        method,
        hostname,
        port,
        path: url.slice(url.indexOf('/', 'http://'.length)),
        headers: {
          ...options.headers,
          ...(method === 'GET' || method === 'HEAD' ? {} : { 'content-length': String(length) }),
        },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes,
            text: bytes.toString('utf8'),
            json: parseJson(bytes.toString('utf8')),
          })
        })
      })
      request.end(options.body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  async create(): Promise<this> {
    await this.need(201, 'POST', '/repositories', {
      json: { name: this.repository, storage_namespace: `local://${this.repository}` },
    })
    return this
  }

  async put(
    branch: string,
    path: string,
    content = 'x',
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    return this.need(201, 'POST', `~/branches/${branch}/objects`, {
      query: { path },
      body: content,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    })
  }

  async remove(branch: string, path: string): Promise<void> {
    await this.need(204, 'DELETE', `~/branches/${branch}/objects`, { query: { path } })
  }

  async commit(branch: string, message: string, more: object = {}): Promise<string> {
    const made = await this.need(201, 'POST', `~/branches/${branch}/commits`, { json: { message, ...more } })
    return (made.json as { id: string }).id
  }

  async branch(name: string, source: string): Promise<string> {
    return (await this.need(201, 'POST', '~/branches', { json: { name, source } })).text
  }

  async head(branch: string): Promise<string> {
    const found = await this.need(200, 'GET', `~/branches/${branch}`)
    return (found.json as { commit_id: string }).commit_id
  }

  async commitOf(ref: string): Promise<CommitDocument> {
    const found = await this.need(200, 'GET', `~/commits/${encodeURIComponent(ref)}`)
    return found.json as CommitDocument
  }

  merge(source: string, destination: string, json: object = {}): Promise<Reply> {
    return this.send('POST', `~/refs/${encodeURIComponent(source)}/merge/${destination}`, { json })
  }

  async get(ref: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('GET', `~/refs/${encodeURIComponent(ref)}/objects`, { query: { path }, headers })
  }

  async need(status: number, method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const reply = await this.send(method, path, options)
    if (reply.status !== status) {
      throw new Error(
        `${method} ${path}: ${String(status)} expected, got ${String(reply.status)} ${reply.text}`,
      )
    }
    return reply
  }
}

export interface CommitDocument {
  readonly id: string
  readonly committer: string
  readonly message: string
  readonly parents: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly meta_range_id: string
  readonly generation: number
  readonly creation_date: number
  readonly version: number
}

function queryText(query: NonNullable<RequestOptions['query']>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly string[]) : [value]).map(
      (one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`,
    ),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
