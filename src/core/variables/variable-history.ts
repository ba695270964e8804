/**
 * What was written to the variables of an execution, beside their present values. Each write leaves one small entry in its own
 * batch; a process uses the places of its own oldest entries again, so that nothing is read or removed for it.
 *
 * - VH-1 An entry is written in the same batch as the values that it tells of.
 * - VH-2 A process keeps so many entries of a variable and no more, and the same of the values that it writes with events.
 * - VH-3 What looks like a secret, by its name or form, is in no entry.
 * - VH-4 The place of an entry is not used again before its write is settled: by it a write whose response was lost is recognised.
 */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { Json } from '../../base/json.ts'
import { plainRedactor } from '../../base/redaction.ts'
import type { Clock } from '../../base/clock.ts'
import { fromBytes, toBytes } from '../json.ts'
import {
  VARIABLE_HISTORY_MAX,
  VARIABLE_HISTORY_TOGETHER_MAX_BYTES,
  VARIABLE_HISTORY_VALUE_MAX_BYTES,
  VARIABLE_HISTORY_WRITERS_REMEMBERED,
} from '../limits.ts'
import type { MakeId } from '../namespaces/make-id.ts'
import type { Scope } from '../namespaces/scope.ts'
import type { StorePut } from '../ports.ts'

/** What is known of the writer. Nothing: the engine, or a program that uses the core. */
export interface WrittenBy {
  readonly unit?: string
  /** Of the unit, from 0. */
  readonly attempt?: number
  readonly taskId?: string
  readonly workerId?: string
  /** The type of the event that was recorded with it. */
  readonly event?: string
}

/** One entry, as stored. A name is in `values`, in `sizes` or in `removed`. */
export interface HistoryEntry {
  readonly atMs: number
  readonly by: WrittenBy
  /** Tells it from other entries of the same process. */
  readonly count: number
  /** It took the place of an earlier one. */
  readonly again?: true
  readonly values: Readonly<Record<string, Json>>
  /** Bytes of values that are too large to be kept. */
  readonly sizes?: Readonly<Record<string, number>>
  /** Names whose value has parts that look like a secret; they are left out. */
  readonly withheld?: readonly string[]
  readonly removed?: readonly string[]
}

/** Entries of values that were written together and are not of one namespace. No namespace has this name. */
export const MIXED_SUBJECT = 'pipeline'

/** What a process remembers of a variable that it writes. */
export interface VariablePlaces {
  /** The variable's, where this process has written it last, as far as it knows. */
  readonly revision: number | undefined
  /** To be told of the revision that was read, where it was. */
  noteRead(revision: number | undefined): void
}

/** The places of one process for one subject. */
class Ring implements VariablePlaces {
  /** What their keys begin with; no other process has it. */
  readonly prefix: string
  /** Places that are free again, the one with the oldest entry first. */
  readonly settled: number[] = []
  places = 0
  count = 0
  #written: number | undefined
  /** Others write it as well: reading first takes fewer round trips than a conflict. */
  #isShared = false

  constructor(prefix: string) {
    this.prefix = prefix
  }

  get revision(): number | undefined {
    return this.#isShared ? undefined : this.#written
  }

  noteRead(revision: number | undefined): void {
    this.#isShared = this.#written !== undefined && revision !== this.#written
  }

  settle(place: number, outcome: WriteOutcome, revision: number | undefined): void {
    // What was not overwritten is still the oldest.
    if (outcome === 'conflict') this.settled.unshift(place)
    else this.settled.push(place)
    if (outcome === 'conflict') this.#isShared = true
    else this.#written = revision
  }
}

type WriteOutcome = 'written' | 'conflict' | 'unknown'

/** An entry that is being written. */
export interface PendingEntry {
  readonly put: StorePut
  /** To be called once, when the write has ended. `conflict`: it has certainly not happened. With the variable's revision, where known. */
  readonly settle: (outcome: WriteOutcome, revision?: number) => void
}

export class HistoryWriter {
  readonly #clock: Clock
  readonly #makeId: MakeId
  /** By the key of the variable, and by the subject of values that are written together. */
  readonly #single = createRings()
  readonly #together = createRings()
  /** The last writer, as JSON. */
  #writer: { readonly by: WrittenBy; readonly text: string } | undefined

  constructor({ clock, makeId }: { readonly clock: Clock; readonly makeId: MakeId }) {
    this.#clock = clock
    this.#makeId = makeId
  }

  /**
   * The entry of values that are written together, whenever that is: its place is one that no entry of a single value has, so that
   * it overwrites none that VH-4 needs.
   */
  ofPuts({ keys }: Pick<Scope, 'keys'>, puts: readonly StorePut[], by: WrittenBy): readonly StorePut[] {
    if (puts.length === 0) return []
    const written = puts.map(({ key, value }) => ({
      name: key.slice(keys.variables.length),
      bytes: value.byteLength,
      text: fromBytes(value),
    }))
    const subject = keys.historyOf(subjectOf(written.map(({ name }) => name)))
    const ring = this.#together.getOrAdd(subject, () => this.#createRing(subject))
    const { put, settle } = this.#begin(ring, `"by":${JSON.stringify(by)},${renderValues(written)}`)
    settle('unknown')
    return [put]
  }

  /** Of the variable with this key and name. */
  placesOf({ keys }: Pick<Scope, 'keys'>, key: string, name: string): VariablePlaces {
    return this.#single.getOrAdd(key, () => this.#createRing(keys.historyOf(name)))
  }

  /** The entry of one value, as JSON; without one, of its removal. */
  begin(
    places: VariablePlaces,
    { name, text, by }: { readonly name: string; readonly text: string | undefined; readonly by: WrittenBy },
  ): PendingEntry {
    if (this.#writer?.by !== by) this.#writer = { by, text: JSON.stringify(by) }
    const values =
      text === undefined
        ? `"values":{},"removed":${JSON.stringify([name])}`
        : renderValues([{ name, text, bytes: Buffer.byteLength(text) }])
    return this.#begin(places as Ring, `"by":${this.#writer.text},${values}`)
  }

  #createRing(subject: string): Ring {
    return new Ring(`${subject}${this.#makeId('mark')}-`)
  }

  #begin(ring: Ring, rest: string): PendingEntry {
    const free = ring.places < VARIABLE_HISTORY_MAX ? undefined : ring.settled.shift()
    const place = free ?? ring.places++
    const count = ring.count++
    const again = free === undefined ? '' : ',"again":true'
    const text = `{"atMs":${this.#clock.now().getTime()},"count":${count}${again},${rest}}`
    return {
      put: { do: 'put', key: `${ring.prefix}${place}`, value: toBytes(text), ttlMs: undefined },
      settle: (outcome, revision) => ring.settle(place, outcome, revision),
    }
  }
}

function createRings(): BoundedMap<string, Ring> {
  return new BoundedMap({ max: VARIABLE_HISTORY_WRITERS_REMEMBERED, evict: 'least-recently-used' })
}

function subjectOf(names: readonly string[]): string {
  const [first = '', ...others] = names
  if (others.length === 0) return first
  const namespace = namespaceOf(first)
  return others.every((name) => namespaceOf(name) === namespace) ? namespace : MIXED_SUBJECT
}

/** Of a name that was checked. */
function namespaceOf(name: string): string {
  const [first = '', second = ''] = name.split('.', 2)
  return first === 'pipeline' ? `${first}.${second}` : first
}

interface Written {
  readonly name: string
  readonly text: string
  readonly bytes: number
}

function renderValues(written: readonly Written[]): string {
  let values = ''
  let sizes: Record<string, number> | undefined
  let withheld: string[] | undefined
  let bytes = 0
  for (const { name, text, bytes: own } of written) {
    if (own > VARIABLE_HISTORY_VALUE_MAX_BYTES || bytes + own > VARIABLE_HISTORY_TOGETHER_MAX_BYTES) {
      sizes ??= {}
      sizes[name] = own
      continue
    }
    bytes += own
    const shown = withoutSecrets(name, text)
    if (shown !== text) (withheld ??= []).push(name)
    // Names of variables need no escapes.
    values += `${values === '' ? '' : ','}"${name}":${shown}`
  }
  let rendered = `"values":{${values}}`
  if (sizes !== undefined) rendered += `,"sizes":${JSON.stringify(sizes)}`
  if (withheld !== undefined) rendered += `,"withheld":${JSON.stringify(withheld)}`
  return rendered
}

/** Matches wherever a redactor may hide something, and is faster. */
const MAY_BE_SECRET =
  /secret|passw|passphrase|pwd|authorization|cookie|credential|signature|key|token|sig=|basic|bearer|:\/\/[^\s/?#"'<>]+@/i

/** The JSON of a value without what looks like a secret; the same text where there is nothing. */
export function withoutSecrets(name: string, text: string): string {
  if (!MAY_BE_SECRET.test(text) && !MAY_BE_SECRET.test(name)) return text
  const own = name.slice(name.lastIndexOf('.') + 1)
  const value = JSON.parse(text) as Json
  const { [own]: shown } = plainRedactor.value({ [own]: value }) as Record<string, Json>
  const after = JSON.stringify(shown)
  return JSON.stringify(value) === after ? text : after
}
