// One request to two lakeFS servers, and their answers compared. Each server has its own commit ids: a request names a commit
// by its number, and answers are compared after each id was replaced by its number.
import type { LakefsRequests, Reply, RequestOptions } from '../lakefs-requests.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'

export interface Call {
  readonly method: string
  /** With numbers of commits as in `(c3)` (its id), `(c3.12)` (its first digits), `(m3)` (its meta range). */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[]>>
  readonly json?: unknown
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What of an answer must be equal. */
export interface ComparedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

export interface Difference {
  readonly call: Call
  readonly real: ComparedAnswer
  readonly ours: ComparedAnswer
}

interface Side {
  readonly requests: LakefsRequests
  readonly numberOf: Map<string, number>
  readonly ids: string[]
  readonly metaRanges: string[]
}

/** Whole, or the first digits that a request may use (and a default message then quotes). */
const ID = /\b[0-9a-f]{64}\b|\b[0-9a-f]{16}\b/g
const COMPARED_HEADERS = ['content-type', 'etag', 'content-range', 'accept-ranges', 'content-length'] as const

export class TwoServers {
  readonly #real: Side
  readonly #ours: Side
  /** Answers that were compared. */
  answers = 0
  /** Differences that are known and listed. */
  readonly known = new Map<string, number>()

  constructor(real: LakefsRequests, ours: LakefsRequests) {
    this.#real = sideOf(real)
    this.#ours = sideOf(ours)
  }

  /** How many commits are known. */
  get commits(): number {
    return this.#real.ids.length
  }

  /** The body of the real server's answer, with numbers for ids; a difference throws. */
  async send(call: Call): Promise<ComparedAnswer> {
    const [real, ours] = await Promise.all([this.#ask(this.#real, call), this.#ask(this.#ours, call)])
    this.answers += 1
    this.#learn(real, ours)
    const [left, right] = [compared(this.#real, call, real), compared(this.#ours, call, ours)]
    if (JSON.stringify(left) === JSON.stringify(right)) return left
    const known = KNOWN_DIFFERENCES.find(({ matches }) => matches({ call, real: left, ours: right }))
    if (known === undefined) throw new DifferenceError({ call, real: left, ours: right })
    this.known.set(known.name, (this.known.get(known.name) ?? 0) + 1)
    return left
  }

  #ask(side: Side, call: Call): Promise<Reply> {
    const fill = (text: string): string =>
      text.replaceAll(/\(([cm])(\d+)(?:\.(\d+))?\)/g, (_, kind: string, number: string, digits?: string) => {
        const id = (kind === 'c' ? side.ids : side.metaRanges)[Number(number)] ?? ''
        return digits === undefined ? id : id.slice(0, Number(digits))
      })
    const options = JSON.parse(
      fill(JSON.stringify({ ...call, method: undefined, path: undefined })),
    ) as RequestOptions
    return side.requests.send(call.method, fill(call.path), options)
  }

  /** Ids in the same place of two answers that nobody has seen before are the same commit. */
  #learn(real: Reply, ours: Reply): void {
    if (real.status !== ours.status) return
    const [left, right] = [commitsIn(real), commitsIn(ours)]
    if (left.length !== right.length) return
    for (const [index, { id, metaRange }] of left.entries()) {
      const other = right[index]
      if (other === undefined) continue
      const [number, sameNumber] = [this.#real.numberOf.get(id), this.#ours.numberOf.get(other.id)]
      if (number === undefined && sameNumber === undefined) {
        add(this.#real, id, metaRange)
        add(this.#ours, other.id, other.metaRange)
      } else if (number !== undefined && number === sameNumber && metaRange !== '') {
        // Until now only a branch or a merge had named it.
        this.#real.metaRanges[number] = metaRange
        this.#ours.metaRanges[number] = other.metaRange
      }
    }
  }
}

export class DifferenceError extends Error {
  readonly difference: Difference

  constructor(difference: Difference) {
    const { call, real, ours } = difference
    super(`${JSON.stringify(call)}\n  real: ${JSON.stringify(real)}\n  ours: ${JSON.stringify(ours)}`)
    this.difference = difference
  }
}

function sideOf(requests: LakefsRequests): Side {
  return { requests, numberOf: new Map(), ids: [], metaRanges: [] }
}

function add(side: Side, id: string, metaRange: string): void {
  side.numberOf.set(id, side.ids.length)
  side.ids.push(id)
  side.metaRanges.push(metaRange)
}

function commitsIn({ status, json, text }: Reply): { id: string; metaRange: string }[] {
  if (status >= 300) return []
  if (json === undefined) return (text.match(/^[0-9a-f]{64}$/) ?? []).map((id) => ({ id, metaRange: '' }))
  const found: { id: string; metaRange: string }[] = []
  const look = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(look)
    if (typeof value !== 'object' || value === null) return
    const { id, meta_range_id: metaRange, commit_id: head, reference } = value as Record<string, unknown>
    if (typeof id === 'string' && typeof metaRange === 'string') found.push({ id, metaRange })
    else
      for (const one of [head, reference])
        if (typeof one === 'string' && one !== '') found.push({ id: one, metaRange: '' })
    Object.values(value).forEach(look)
  }
  look(json)
  return found
}

function compared(side: Side, call: Call, reply: Reply): ComparedAnswer {
  const { status } = reply
  const isError = status >= 400
  const headers = Object.fromEntries(
    COMPARED_HEADERS.filter((name) => !(isError && name === 'content-length')).map((name) => [
      name,
      reply.headers[name],
    ]),
  )
  // Lengths of documents differ with the lengths of names and addresses in them.
  if (reply.json !== undefined) delete headers['content-length']
  if (reply.json === undefined) return { status, headers, body: named(side, reply.text) }
  return { status, headers, body: isError ? errorShape(reply.json) : plain(side, reply.json) }
}

/** Texts of errors are each server's own. */
function errorShape(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, value === '' ? '' : typeof value]),
  )
}

function named(side: Side, text: string): string {
  return text.replaceAll(ID, (id) => {
    const number = side.ids.findIndex((known) => known.startsWith(id))
    return number < 0 ? '(?)' : `(c${String(number)})`
  })
}

const OWN: Readonly<Record<string, (value: unknown) => unknown>> = {
  physical_address: (value) => typeof value,
  committer: (value) => typeof value,
  'cherry-pick-committer': (value) => typeof value,
  // A tree without a name is the empty one of a new repository.
  meta_range_id: (value) => value === '',
  mtime: (value) => typeof value,
  creation_date: (value) => (typeof value === 'number' && value > 1_700_000_100 ? 'now' : value),
}

function plain(side: Side, value: unknown, name = ''): unknown {
  const own = OWN[name]
  if (own !== undefined) return own(value)
  if (typeof value === 'string') return named(side, value)
  if (Array.isArray(value)) return value.map((one) => plain(side, one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, one]) => [key, plain(side, one, key)]),
  )
}
