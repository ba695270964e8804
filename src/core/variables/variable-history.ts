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

/** The places of one process for one subject. */
interface Ring {
  /** What their keys begin with; no other process has it. */
  readonly prefix: string
  /** Places that are free again, the one with the oldest entry first. */
  readonly settled: number[]
  places: number
  count: number
}

/** An entry that is being written. */
export interface PendingEntry {
  readonly put: StorePut
  /** To be called once, when the write has ended. `conflict`: it has certainly not happened. */
  readonly settle: (outcome: 'written' | 'conflict' | 'unknown') => void
}

export class HistoryWriter {
  readonly #clock: Clock
  readonly #makeId: MakeId
  readonly #rings = new BoundedMap<string, Ring>({
    max: VARIABLE_HISTORY_WRITERS_REMEMBERED,
    evict: 'least-recently-used',
  })

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
    const written = puts.map(({ key, value }) => ({ name: key.slice(keys.variables.length), value }))
    const { put, settle } = this.#begin(keys.historyOf(subjectOf(written.map(({ name }) => name))), {
      rest: render(written, by),
      ring: 'together',
    })
    settle('unknown')
    return [put]
  }

  /** The entry of one value; without one, of its removal. */
  begin(
    { keys }: Pick<Scope, 'keys'>,
    name: string,
    { value, by }: { readonly value?: Uint8Array; readonly by: WrittenBy },
  ): PendingEntry {
    const rest =
      value === undefined
        ? `"by":${JSON.stringify(by)},"values":{},"removed":${JSON.stringify([name])}`
        : render([{ name, value }], by)
    return this.#begin(keys.historyOf(name), { rest, ring: 'single' })
  }

  #begin(
    subject: string,
    { rest, ring: kind }: { readonly rest: string; readonly ring: 'single' | 'together' },
  ): PendingEntry {
    const ring = this.#rings.getOrAdd(subject + kind, () => ({
      prefix: `${subject}${this.#makeId('mark')}-`,
      ...{ settled: [], places: 0, count: 0 },
    }))
    const free = ring.places < VARIABLE_HISTORY_MAX ? undefined : ring.settled.shift()
    const place = free ?? ring.places++
    const count = ring.count++
    const again = free === undefined ? '' : ',"again":true'
    const text = `{"atMs":${this.#clock.now().getTime()},"count":${count}${again},${rest}}`
    return {
      put: { do: 'put', key: `${ring.prefix}${place}`, value: toBytes(text) },
      settle: (outcome) => {
        // What was not overwritten is still the oldest.
        if (outcome === 'conflict') ring.settled.unshift(place)
        else ring.settled.push(place)
      },
    }
  }
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
  readonly value: Uint8Array
}

function render(written: readonly Written[], by: WrittenBy): string {
  const values: string[] = []
  const sizes: Record<string, number> = {}
  const withheld: string[] = []
  let bytes = 0
  for (const { name, value } of written) {
    const own = value.byteLength
    if (own > VARIABLE_HISTORY_VALUE_MAX_BYTES || bytes + own > VARIABLE_HISTORY_TOGETHER_MAX_BYTES) {
      sizes[name] = own
      continue
    }
    bytes += own
    const text = fromBytes(value)
    const shown = withoutSecrets(name, text)
    if (shown !== text) withheld.push(name)
    // Names of variables need no escapes.
    values.push(`"${name}":${shown}`)
  }
  let rendered = `"by":${JSON.stringify(by)},"values":{${values.join(',')}}`
  if (values.length < written.length) rendered += `,"sizes":${JSON.stringify(sizes)}`
  if (withheld.length > 0) rendered += `,"withheld":${JSON.stringify(withheld)}`
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
