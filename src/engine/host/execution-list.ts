/** Reads executions from the store, also in an instance that does not run them. */

import { followSignals } from '../../base/abort-signals.ts'
import { MissingError } from '../../base/errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import type { JsonObject } from '../../base/json.ts'
import { fromBytes } from '../../core/json.ts'
import { engineIndexPrefix, executionId, type ExecutionScope } from '../../core/keys.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { StoreEntry } from '../../core/ports.ts'
import type { WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import { describeCheckpoint } from '../checkpoints/checkpoint.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import { EXECUTIONS_LOOKED_AT_MAX, HOST_READS_IN_FLIGHT } from '../limits.ts'
import type { Graph } from '../graph/graph.ts'
import type { CheckpointDescription } from '../protocol/describe-execution.ts'
import type { Execution } from '../protocol/execution.ts'
import type { Stage } from '../protocol/stages.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { DefinitionStore } from './definition-store.ts'
import type { Executions } from './executions.ts'
import { decodeHead } from './stored-execution.ts'

/** One of the executions, as a list shows it. */
export interface ListedExecution {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly version: number
  readonly status: WorkflowStatus
  readonly stage: Stage
  readonly createdMs: number
  /** Of the present run. */
  readonly startTimeMs: number
  readonly updatedMs: number
  readonly correlationId: string | undefined
  readonly reasonForIncompletion: string | undefined
  /** `undefined` where it is too large for a list. */
  readonly input?: JsonObject | undefined
}

export interface ListRequest {
  readonly limit: number
  /** `next` of the page before. */
  readonly after?: string | undefined
  readonly name?: string | undefined
  readonly stages?: readonly Stage[] | undefined
}

export interface ListedPage {
  readonly executions: readonly ListedExecution[]
  /** `undefined`: there are no more. */
  readonly next: string | undefined
}

export interface ReaderParts {
  readonly steps: StepWriter
  readonly executions: Executions
  readonly definitions: DefinitionStore
  readonly checkpoints: Checkpoints
  readonly scopeOf: (workflowId: WorkflowId) => ExecutionScope
  /** Aborted when the engine closes. */
  readonly closed: AbortSignal
}

const LOOKED_AT_ONCE = 100

type Entry = Pick<ListedExecution, 'workflowId' | 'name' | 'version'>

export class ExecutionReader {
  readonly #parts: ReaderParts

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  /** All that is known of an execution; `undefined` where there is none. */
  read(workflowId: WorkflowId): Promise<Execution | undefined> {
    return this.#parts.executions.read(workflowId)
  }

  /** The oldest first. */
  async listCheckpoints(workflowId: WorkflowId): Promise<readonly CheckpointDescription[]> {
    const { checkpoints, scopeOf } = this.#parts
    return (await checkpoints.list(scopeOf(workflowId))).toReversed().map(describeCheckpoint)
  }

  /**
   * The newest first, ended ones too. A page may have fewer than `limit` although there are more: what it looks at is bounded.
   */
  async list({ limit, after, name, stages }: ListRequest): Promise<ListedPage> {
    const { store } = this.#parts.steps
    const found: ListedExecution[] = []
    const prefix = engineIndexPrefix('started', this.#parts.steps.tenant)
    const atOnce = name === undefined && stages === undefined ? limit : Math.max(limit, LOOKED_AT_ONCE)
    let last = after === undefined ? undefined : prefix + after
    for (let left = EXECUTIONS_LOOKED_AT_MAX; ;) {
      const page = await store.range({
        prefix,
        order: 'descending',
        limit: Math.min(atOnce, left),
        after: last,
      })
      const named = page.entries.map(readEntry).filter((entry) => name === undefined || entry.name === name)
      const read = await this.#readHeads(named)
      const wanted = read.filter(({ stage }) => stages === undefined || stages.includes(stage))
      const taken = wanted.slice(0, limit - found.length)
      found.push(...taken)
      left -= page.entries.length
      last = wanted.length > taken.length ? keyOf(page.entries, taken.at(-1)) : page.next
      if (last === undefined) return { executions: found, next: undefined }
      if (found.length >= limit || left <= 0) return { executions: found, next: last.slice(prefix.length) }
    }
  }

  /** Resolves when it has ended, at once if it has, or when the signal comes. Throws where there is none. */
  async waitForEnd(workflowId: WorkflowId, signal: AbortSignal): Promise<void> {
    const { store } = this.#parts.steps
    const stop = followSignals(signal, this.#parts.closed)
    try {
      if (await this.#hasEnded(workflowId)) return
      // The first notice comes when the watch has begun: nothing is missed between two looks.
      for await (const notice of store.watch({ prefix: this.#headKey(workflowId), signal: stop.signal })) {
        const isNews = notice.kind !== 'changes' || notice.changes.length > 0
        if (isNews && (await this.#hasEnded(workflowId))) return
      }
    } finally {
      stop.release()
    }
  }

  /** A registered pipeline; without a version the latest. Throws `engine/no-such-definition`. */
  readGraph(name: string, version?: number): Promise<Graph> {
    return this.#parts.definitions.findGraph(name, version)
  }

  listGraphs(): ReturnType<DefinitionStore['listGraphs']> {
    return this.#parts.definitions.listGraphs()
  }

  async #hasEnded(workflowId: WorkflowId): Promise<boolean> {
    const head = await this.#readHead(workflowId)
    if (head === undefined) throw noSuchExecution('wait for', workflowId)
    return !isWorkflowOpen(head.status)
  }

  /** Those whose state was removed meanwhile are left out. */
  async #readHeads(entries: readonly Entry[]): Promise<readonly ListedExecution[]> {
    const read: (ListedExecution | undefined)[] = entries.map(() => undefined)
    await forEachBounded(entries.entries(), { limit: HOST_READS_IN_FLIGHT }, async ([at, entry]) => {
      const head = await this.#readHead(entry.workflowId)
      if (head !== undefined) read[at] = { ...entry, ...head }
    })
    return read.filter((each) => each !== undefined)
  }

  async #readHead(workflowId: WorkflowId): Promise<Omit<ListedExecution, keyof Entry> | undefined> {
    const entry = await this.#parts.steps.store.get(this.#headKey(workflowId))
    if (entry === undefined) return undefined
    const head = decodeHead(entry.value).fields as unknown as Execution
    const { status, stage, createdMs, startTimeMs, updatedMs } = head
    const { correlationId, reasonForIncompletion, input } = head
    return { status, stage, createdMs, startTimeMs, updatedMs, correlationId, reasonForIncompletion, input }
  }

  #headKey(workflowId: WorkflowId): string {
    return `${this.#parts.steps.keysOf(executionId(workflowId)).engine}head`
  }
}

export function noSuchExecution(what: string, workflowId: WorkflowId): MissingError {
  return new MissingError(
    'engine/no-such-execution',
    `${what} the execution ${workflowId}: it does not exist`,
    { next: 'Correct the id.' },
  )
}

function readEntry({ key, value }: StoreEntry): Entry {
  const { name, version } = JSON.parse(fromBytes(value)) as Omit<Entry, 'workflowId'>
  return { workflowId: key.slice(key.lastIndexOf(':') + 1) as WorkflowId, name, version }
}

function keyOf(entries: readonly StoreEntry[], listed: ListedExecution | undefined): string | undefined {
  return entries.find(({ key }) => key.endsWith(`:${listed?.workflowId ?? ''}`))?.key
}
