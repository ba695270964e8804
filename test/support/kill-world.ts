/**
 * Clients that load a lakeFS-compatible server and remember what it acknowledged, each on a branch of its own and one
 * request at a time: so at a kill there is one request per client whose outcome is open, and everything before is not.
 */

import { createHash } from 'node:crypto'
import { Pool } from 'undici'
import type { Random } from '../../src/base/random.ts'

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** One server, spoken to without any of our client's care: no retries, no reading back. */
export class RawServer {
  readonly #pool: Pool
  readonly #authorization: string

  constructor(url: string, credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }) {
    this.#pool = new Pool(url, { connections: 16 })
    const pair = `${credentials.accessKeyId}:${credentials.secretAccessKey}`
    this.#authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }

  async ask(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: Buffer | object,
  ): Promise<Answer> {
    const raw = Buffer.isBuffer(body)
    const answer = await this.#pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: this.#authorization,
        ...(body === undefined
          ? {}
          : { 'content-type': raw ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
    })
    return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) }
  }

  /** Drops every connection, so that pending requests fail at once. */
  async drop(): Promise<void> {
    await this.#pool.destroy()
  }
}

type Tree = ReadonlyMap<string, string>

/** What one client knows of its branch. */
interface Knowledge {
  /** Path to MD5 of what a reader of the branch sees, uncommitted changes included. */
  readonly visible: Tree
  /** What the branch's commit holds. */
  readonly committed: Tree
  /** Messages of the commits, oldest first. */
  readonly commits: readonly string[]
}

interface Step {
  readonly name: string
  readonly after: Knowledge
  readonly request: (server: RawServer) => Promise<Answer>
  readonly expected: readonly number[]
}

export const REPOSITORY = 'killed'
const SIZES = [0, 1, 900, 40_000, 700_000]

export class KillClient {
  readonly branch: string
  readonly #random: Random
  #known: Knowledge = { visible: new Map(), committed: new Map(), commits: [] }
  #open: Step | undefined
  #counter = 0
  acknowledged = 0
  /** How often an open request turned out to have taken effect, and how often not. */
  readonly settled = { done: 0, undone: 0 }

  constructor(branch: string, random: Random) {
    this.branch = branch
    this.#random = random
  }

  /** Sends one request after the other until the server is gone. */
  async load(server: RawServer): Promise<void> {
    for (;;) {
      const step = this.#nextStep()
      this.#open = step
      let answer: Answer
      try {
        answer = await step.request(server)
      } catch {
        // The kill: whether this step took effect is open until the server is back.
        return
      }
      if (!step.expected.includes(answer.status)) {
        throw new Error(`${this.branch} ${step.name}: ${answer.status} ${answer.body.toString()}`)
      }
      this.#known = step.after
      this.#open = undefined
      this.acknowledged++
    }
  }

  /** Compares what the server holds with what it acknowledged; the open step may have happened, wholly or not at all. */
  async verify(server: RawServer): Promise<void> {
    const seen = await this.#look(server)
    const candidates = [this.#known, ...(this.#open === undefined ? [] : [this.#open.after])]
    const match = candidates.find((candidate) => sameKnowledge(candidate, seen))
    if (match === undefined) {
      throw new Error(
        `${this.branch}: the server holds what nobody asked for.\nopen step: ${this.#open?.name ?? 'none'}\n` +
          `acknowledged: ${describe(this.#known)}\nseen: ${describe(seen)}`,
      )
    }
    if (this.#open !== undefined) this.settled[match === this.#known ? 'undone' : 'done']++
    this.#known = match
    this.#open = undefined
    for (const [path, md5] of match.visible) await this.#verifyBytes(server, path, md5)
  }

  async #verifyBytes(server: RawServer, path: string, md5: string): Promise<void> {
    const answer = await server.ask('GET', `${at(`/refs/${this.branch}/objects`)}?path=${path}`)
    if (answer.status !== 200 || md5Of(answer.body) !== md5) {
      throw new Error(
        `${this.branch}: ${path} answers ${answer.status} with ${answer.body.length} bytes that are not those sent`,
      )
    }
  }

  #nextStep(): Step {
    const roll = this.#random.next()
    if (this.#known.visible.size > 40) return this.#commitOr(() => this.#remove())
    if (roll < 0.6 || this.#known.visible.size === 0) return this.#upload()
    if (roll < 0.75) return this.#remove()
    return this.#commitOr(() => this.#upload())
  }

  #upload(): Step {
    const path = `f${Math.floor(this.#random.next() * 30)}`
    const size = SIZES[Math.floor(this.#random.next() * SIZES.length)]!
    const body = Buffer.alloc(size, `${this.branch}-${this.#counter++}-`)
    return {
      name: `upload ${path}`,
      request: (server) => server.ask('POST', `${at(`/branches/${this.branch}/objects`)}?path=${path}`, body),
      expected: [201],
      after: { ...this.#known, visible: new Map(this.#known.visible).set(path, md5Of(body)) },
    }
  }

  #remove(): Step {
    const paths = [...this.#known.visible.keys()]
    const path = paths[Math.floor(this.#random.next() * paths.length)]!
    const visible = new Map(this.#known.visible)
    visible.delete(path)
    return {
      name: `delete ${path}`,
      request: (server) => server.ask('DELETE', `${at(`/branches/${this.branch}/objects`)}?path=${path}`),
      expected: [204],
      after: { ...this.#known, visible },
    }
  }

  #commitOr(otherwise: () => Step): Step {
    if (sameTree(this.#known.visible, this.#known.committed)) return otherwise()
    const message = `${this.branch} ${this.#counter++}`
    return {
      name: `commit ${message}`,
      request: (server) => server.ask('POST', at(`/branches/${this.branch}/commits`), { message }),
      expected: [201],
      after: {
        visible: this.#known.visible,
        committed: this.#known.visible,
        commits: [...this.#known.commits, message],
      },
    }
  }

  async #look(server: RawServer): Promise<Knowledge> {
    const log = await readAll(server, `/refs/${this.branch}/commits?amount=1000`)
    return {
      visible: await readTree(server, this.branch),
      committed: await readTree(server, `${this.branch}@`),
      commits: log
        .map((commit) => String(commit['message']))
        .filter((message) => message.startsWith(`${this.branch} `))
        .reverse(),
    }
  }
}

async function readTree(server: RawServer, ref: string): Promise<Tree> {
  const objects = await readAll(server, `/refs/${encodeURIComponent(ref)}/objects/ls?amount=1000`)
  return new Map(objects.map((object) => [String(object['path']), String(object['checksum'])]))
}

async function readAll(server: RawServer, path: string): Promise<readonly Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for (let after = '', pages = 0; pages < 1_000; pages++) {
    const answer = await server.ask('GET', at(`${path}&after=${encodeURIComponent(after)}`))
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.body.toString()}`)
    const page = JSON.parse(answer.body.toString()) as {
      readonly results: readonly Record<string, unknown>[]
      readonly pagination: { readonly has_more: boolean; readonly next_offset: string }
    }
    rows.push(...page.results)
    if (!page.pagination.has_more) return rows
    after = page.pagination.next_offset
  }
  throw new Error(`GET ${path}: more pages than a test makes`)
}

export function at(path: string): string {
  return `/repositories/${REPOSITORY}${path}`
}

function sameKnowledge(a: Knowledge, b: Knowledge): boolean {
  return (
    sameTree(a.visible, b.visible) &&
    sameTree(a.committed, b.committed) &&
    a.commits.length === b.commits.length &&
    a.commits.every((message, index) => message === b.commits[index])
  )
}

function sameTree(a: Tree, b: Tree): boolean {
  return a.size === b.size && [...a].every(([path, md5]) => b.get(path) === md5)
}

function describe({ visible, committed, commits }: Knowledge): string {
  const show = (tree: Tree): string =>
    [...tree]
      .map(([path, md5]) => `${path}=${md5.slice(0, 6)}`)
      .sort()
      .join(' ')
  return `visible {${show(visible)}} committed {${show(committed)}} commits ${commits.length}, last "${commits.at(-1) ?? ''}"`
}

function md5Of(body: Buffer): string {
  return createHash('md5').update(body).digest('hex')
}
