/** Definitions: those that were registered under a name, and those that executions run, stored once by their content. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { MissingError } from '../../base/errors.ts'
import { createHash } from 'node:crypto'
import { fromBytes, toBytes } from '../../core/json.ts'
import { engineDefinitionPrefix, type TenantId } from '../../core/keys.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import type { Store } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import type { Graph } from '../graph/graph.ts'
import { wholeTaskDef, type WholeTaskDef } from '../protocol/definitions.ts'
import type { Execution } from '../protocol/execution.ts'
import { brokenState, packBlob, readBlob, refOf, writeBlobs, type BlobRef } from './blobs.ts'

/** What an execution runs. */
export type Definition = Pick<Execution, 'graph' | 'taskDefs'>

export class DefinitionStore {
  readonly #store: Store
  readonly #tenant: TenantId | undefined
  readonly #pace: WritePace
  /** By digest; the executions of one definition share it. */
  readonly #known = new BoundedMap<string, Definition>({
    max: DEFINITIONS_KEPT,
    evict: 'least-recently-used',
  })

  constructor(store: Store, tenant: TenantId | undefined, pace: WritePace) {
    this.#store = store
    this.#tenant = tenant
    this.#pace = pace
  }

  /** Stores it unless it is stored. Returns its digest, and the copy that all executions share. */
  async keep({
    graph,
    taskDefs,
  }: Definition): Promise<{ readonly digest: string; readonly shared: Definition }> {
    const definition: Definition = { graph, taskDefs }
    const text = JSON.stringify([graph, taskDefs])
    const digest = createHash('sha256').update(text).digest('hex')
    const known = this.#known.get(digest)
    if (known !== undefined) return { digest, shared: known }
    const prefix = this.#prefix('digest')
    const blob = packBlob(text)
    await writeBlobs({ store: this.#store, prefix, pace: this.#pace }, [blob])
    await this.#put(`${prefix}${digest}`, refOf(blob))
    this.#known.set(digest, definition)
    return { digest, shared: definition }
  }

  async read(digest: string): Promise<Definition> {
    const known = this.#known.get(digest)
    if (known !== undefined) return known
    const prefix = this.#prefix('digest')
    const entry = await this.#store.get(`${prefix}${digest}`)
    if (entry === undefined) throw brokenState(`its definition ${digest} is missing`)
    const text = await readBlob({ store: this.#store, prefix }, JSON.parse(fromBytes(entry.value)) as BlobRef)
    const [graph, taskDefs] = JSON.parse(text) as [Graph, Record<string, WholeTaskDef>]
    const definition = { graph, taskDefs }
    this.#known.set(digest, definition)
    return definition
  }

  async registerTask(def: WholeTaskDef): Promise<void> {
    await this.#put(this.#prefix('task') + encodeName(def.name), def)
  }

  async registerGraph(graph: Graph): Promise<void> {
    const blob = packBlob(JSON.stringify(graph))
    const prefix = this.#prefix('digest')
    await writeBlobs({ store: this.#store, prefix, pace: this.#pace }, [blob])
    await this.#put(this.#prefix('graph') + versionKey(graph.name, graph.version), refOf(blob))
  }

  /** The definition of a task as registered, or Conductor's defaults. */
  async findTask(name: string): Promise<WholeTaskDef> {
    const entry = await this.#store.get(this.#prefix('task') + encodeName(name))
    return entry === undefined ? wholeTaskDef({ name }) : (JSON.parse(fromBytes(entry.value)) as WholeTaskDef)
  }

  /** A registered graph; without a version the latest. */
  async findGraph(name: string, version: number | undefined): Promise<Graph> {
    const prefix =
      this.#prefix('graph') + (version === undefined ? `${encodeName(name)}:` : versionKey(name, version))
    const page = await this.#store.range({ prefix, order: 'descending', limit: 1 })
    const [entry] = page.entries
    if (entry === undefined) {
      throw new MissingError(
        'engine/no-such-definition',
        `start "${name}"${version === undefined ? '' : ` in version ${version}`}: it is not defined`,
        { next: 'Register the definition, or correct the name.' },
      )
    }
    const ref = JSON.parse(fromBytes(entry.value)) as BlobRef
    return JSON.parse(await readBlob({ store: this.#store, prefix: this.#prefix('digest') }, ref)) as Graph
  }

  /** Name and version of every registered graph. */
  async listGraphs(): Promise<readonly { readonly name: string; readonly version: number }[]> {
    const prefix = this.#prefix('graph')
    const found: { name: string; version: number }[] = []
    for await (const page of readPages(this.#store, { prefix })) {
      for (const { key } of page) {
        const [name = '', version = ''] = key.slice(prefix.length).split(':')
        found.push({ name: decodeURIComponent(name), version: Number(version) })
      }
    }
    return found
  }

  #prefix(kind: Parameters<typeof engineDefinitionPrefix>[0]): string {
    return engineDefinitionPrefix(kind, this.#tenant)
  }

  async #put(key: string, value: object): Promise<void> {
    const bytes = toBytes(JSON.stringify(value))
    await commitGuarded(
      this.#store,
      {
        batch: { operations: [{ do: 'put', key, value: bytes }] },
        hasHappened: () => Promise.resolve('open'),
      },
      this.#pace,
    )
  }
}

const DEFINITIONS_KEPT = 1_000
/** Enough for every version, so that texts sort as their numbers do. */
const VERSION_DIGITS = 12

function versionKey(name: string, version: number): string {
  return `${encodeName(name)}:${String(version).padStart(VERSION_DIGITS, '0')}`
}

/** Names of Conductor may have any character. */
function encodeName(name: string): string {
  return encodeURIComponent(name)
}
