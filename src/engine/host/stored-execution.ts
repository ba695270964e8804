/**
 * How an execution is stored: a small head, one entry per attempt, and blobs for what is large. The definitions are stored
 * once for all executions that run them. Pure.
 *
 * Nothing here knows what a field or an attempt means: whatever the rules keep in an execution is stored.
 */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { HOST_INLINE_MAX_BYTES, HOST_PACKED_TEXTS_MAX } from '../limits.ts'
import { brokenState, packBlob, refOf, type Blob, type BlobRef } from './blobs.ts'

/** The entry that every step of an execution writes. */
export interface Head {
  readonly format: 1
  /** Differs in every write, so that a writer whose response was lost recognises its own. */
  readonly token: string
  /** Of graph and task definitions. */
  readonly definition: string
  readonly fields: Readonly<Record<string, Json>>
  /** Fields that are stored as blobs. */
  readonly large: Readonly<Record<string, BlobRef>>
  /** A step that is larger than a batch: this much of its writes has been done. */
  readonly redo?: { readonly writes: BlobRef; readonly done: number }
}

export interface StoredRow {
  /** Attempts are in ascending order. */
  readonly order: number
  readonly row: Omit<AttemptRow, 'record'> & { readonly record: Partial<AttemptRow['record']> }
  readonly large: Readonly<Record<string, BlobRef>>
}

/** An encoded value, and what has to be written before it. */
export interface Encoded<T> {
  readonly value: T
  readonly blobs: readonly Blob[]
}

/** Values that were packed before: most of them are in many steps. */
const packed = new WeakMap<object, Blob>()
/** By the text itself, which has no identity. */
const packedTexts = new BoundedMap<string, Blob>({
  max: HOST_PACKED_TEXTS_MAX,
  evict: 'least-recently-used',
  weigh: ({ textLength }) => textLength,
})

/** Stored elsewhere. */
const APART: ReadonlySet<string> = new Set(['graph', 'taskDefs', 'rows'])

export function encodeFields(execution: Execution): Encoded<Pick<Head, 'fields' | 'large'>> {
  const fields = Object.fromEntries(Object.entries(execution).filter(([name]) => !APART.has(name)))
  const { small, large, blobs } = separate(fields)
  return { value: { fields: small, large }, blobs }
}

export function encodeRow(row: AttemptRow, order: number): Encoded<Uint8Array> {
  const { record, ...rest } = row
  const { small, large, blobs } = separate(record)
  return { value: toBytes(JSON.stringify({ order, row: { ...rest, record: small }, large })), blobs }
}

export function decodeRow(bytes: Uint8Array): StoredRow {
  return JSON.parse(fromBytes(bytes)) as StoredRow
}

export function encodeHead(head: Head): Uint8Array {
  return toBytes(JSON.stringify(head))
}

export function decodeHead(bytes: Uint8Array): Head {
  const head = JSON.parse(fromBytes(bytes)) as Partial<Head>
  if (head.format !== 1)
    throw brokenState(`its format is ${String(head.format)}, this version reads format 1`)
  return head as Head
}

/**
 * The large members of an object apart from the small ones. Of a member that is an object with few large members of its own, as inputs
 * and outputs are, only those are apart: units that share a large value then share its blob.
 */
function separate(value: object): {
  readonly small: Readonly<Record<string, Json>>
  readonly large: Readonly<Record<string, BlobRef>>
  readonly blobs: readonly Blob[]
} {
  const small: Record<string, Json> = {}
  const large: Record<string, BlobRef> = {}
  const blobs: Blob[] = []
  for (const [name, member] of Object.entries(value) as [string, Json | undefined][]) {
    if (member === undefined) continue
    const { rest, apart } = separateMember(member)
    if (rest !== undefined) small[name] = rest
    for (const [child, blob] of apart) {
      large[child === undefined ? name : name + CHILD + child] = refOf(blob)
      blobs.push(blob)
    }
  }
  return { small, large, blobs }
}

interface Separated {
  /** With `null` in the places of what is apart; `undefined` where all of it is. */
  readonly rest: Json | undefined
  /** By name, or the whole value without one. */
  readonly apart: readonly (readonly [child: string | undefined, blob: Blob])[]
}

function separateMember(value: Json): Separated {
  if (typeof value !== 'object' || value === null) return { rest: value, apart: [] }
  const known = packed.get(value)
  if (known !== undefined) return { rest: undefined, apart: [[undefined, known]] }
  // Large children that were met before save writing all of it as text.
  const early = Array.isArray(value) ? undefined : separateChildren(value as JsonObject, knownBlob)
  if (early !== undefined) return early
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) <= HOST_INLINE_MAX_BYTES) return { rest: value, apart: [] }
  const late = Array.isArray(value) ? undefined : separateChildren(value as JsonObject, blobOf)
  return late ?? { rest: undefined, apart: [[undefined, pack(value, text)]] }
}

/** `undefined` where none is found, or what is left would still be large. */
function separateChildren(value: JsonObject, find: (child: Json) => Blob | undefined): Separated | undefined {
  const rest: [string, Json][] = []
  const apart: [string, Blob][] = []
  for (const [name, child] of Object.entries(value)) {
    const blob = find(child)
    rest.push([name, blob === undefined ? child : null])
    if (blob !== undefined) apart.push([name, blob])
    if (apart.length > CHILDREN_APART_MAX) return undefined
  }
  const small = Object.fromEntries(rest)
  if (apart.length === 0 || Buffer.byteLength(JSON.stringify(small)) > HOST_INLINE_MAX_BYTES) return undefined
  return { rest: small, apart }
}

function knownBlob(value: Json): Blob | undefined {
  if (typeof value === 'string') return value.length > HOST_INLINE_MAX_BYTES ? packText(value) : undefined
  return typeof value === 'object' && value !== null ? packed.get(value) : undefined
}

function blobOf(value: Json): Blob | undefined {
  const known = knownBlob(value)
  if (known !== undefined || typeof value !== 'object' || value === null) return known
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) <= HOST_INLINE_MAX_BYTES ? undefined : pack(value, text)
}

function pack(value: object, text: string): Blob {
  const blob = packBlob(text)
  packed.set(value, blob)
  return blob
}

function packText(value: string): Blob {
  return packedTexts.getOrAdd(value, () => packBlob(JSON.stringify(value)))
}

/** With so many large values of its own, an object is cheaper as one blob. */
const CHILDREN_APART_MAX = 8
/** Between the name of a member and that of its child; the fields of executions and attempts do not have it. */
const CHILD = '/'

/** Puts a value that was apart back into its place. */
export function putBack(members: Record<string, Json>, path: string, value: Json): void {
  const at = path.indexOf(CHILD)
  if (at < 0) members[path] = value
  else {
    const name = path.slice(0, at)
    members[name] = { ...(members[name] as JsonObject), [path.slice(at + 1)]: value }
  }
}
