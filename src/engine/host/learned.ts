/**
 * What an engine learns from runs: how often units fail, how long they take, and which targets fail. Stored a little later than it
 * is learned, and once more when the engine is closed: of an engine that is killed, the last seconds are lost.
 */

import { isAborted } from '../../base/abort-signals.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import { engineDefinitionPrefix, type TenantId } from '../../core/keys.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import { AnalysisCache } from '../graph/analysis-cache.ts'
import type { GraphAnalysis } from '../graph/analysis.ts'
import type { Graph } from '../graph/graph.ts'
import { recordRuns, type GraphHistory, type RecordedRun } from '../graph/history.ts'
import type { ResourcePool } from '../graph/resources.ts'
import { HISTORIES_KEPT_MAX, HISTORY_FRESH_MS, LEARNED_SAVE_MS } from '../limits.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { indexOf } from '../protocol/graph-index.ts'
import { isTaskOpen } from '../protocol/state.ts'
import type { BreakerStates } from '../scheduling/breakers.ts'
import type { StepChange } from './step-change.ts'

export interface LearnedParts {
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly pace: WritePace
  readonly clock: Clock
  readonly logger: Logger
  readonly pool: ResourcePool | undefined
}

interface Known {
  history: GraphHistory
  /** What analyses are based on: it changes seldom, so that executions share an analysis. */
  basis: GraphHistory
  basisMs: number
}

/** Where it is learned. */
export interface LearnedSource {
  /** Another instance may run the executions meanwhile: then it stores what it learns. */
  readonly isOwner: () => boolean
  readonly breakers: () => BreakerStates
}

export class Learned {
  readonly #parts: LearnedParts
  readonly #analyses = new AnalysisCache()
  #known = newKnown()
  /** Names of graphs. */
  readonly #unsaved = new Set<string>()
  #breakers: BreakerStates = {}

  constructor(parts: LearnedParts) {
    this.#parts = parts
  }

  /** As stored last. */
  get breakers(): BreakerStates {
    return this.#breakers
  }

  /** Reads what was stored. What cannot be read is learned anew: no execution depends on it. */
  async load(): Promise<void> {
    const { store, logger } = this.#parts
    this.#known = newKnown()
    this.#unsaved.clear()
    this.#breakers = {}
    try {
      const breakers = await store.get(this.#breakersKey())
      if (breakers !== undefined) this.#breakers = JSON.parse(fromBytes(breakers.value)) as BreakerStates
      await this.#loadHistories()
    } catch (error) {
      logger.warn('what was learned from earlier runs could not be read', { error })
    }
  }

  /** Records the runs that a step ended. */
  note({ execution, changed }: Pick<StepChange, 'execution' | 'changed'>): void {
    const runs = changed.flatMap(({ before, after }) =>
      before !== undefined && isTaskOpen(before.record.status) ? (runOf(execution, after) ?? []) : [],
    )
    if (runs.length === 0) return
    const { name } = execution.graph
    const known = this.#knownOf(name)
    known.history = recordRuns(known.history, runs)
    this.#unsaved.add(name)
  }

  /** With what earlier runs of this graph showed. */
  analyse(graph: Graph): GraphAnalysis {
    const known = this.#knownOf(graph.name)
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs - known.basisMs >= HISTORY_FRESH_MS) {
      known.basis = known.history
      known.basisMs = nowMs
    }
    const { pool } = this.#parts
    return this.#analyses.analyseChecked(graph, {
      history: known.basis,
      ...(pool === undefined ? {} : { pool }),
    })
  }

  /** Stores it from time to time. Ends with the signal. */
  async run(source: LearnedSource, signal: AbortSignal): Promise<void> {
    while (!isAborted(signal)) {
      await this.#parts.clock.sleep(LEARNED_SAVE_MS, signal).catch(() => undefined)
      if (!isAborted(signal)) await this.save(source)
    }
  }

  async save({ isOwner, breakers }: LearnedSource): Promise<void> {
    if (!isOwner()) return
    try {
      await this.#saveBreakers(breakers())
      for (const name of [...this.#unsaved]) {
        const known = this.#known.get(name)
        if (known !== undefined)
          await this.#put(this.#historyPrefix() + encodeURIComponent(name), known.history)
        this.#unsaved.delete(name)
      }
    } catch (error) {
      this.#parts.logger.warn('what was learned from runs could not be stored', { error })
    }
  }

  async #saveBreakers(now: BreakerStates): Promise<void> {
    if (JSON.stringify(now) === JSON.stringify(this.#breakers)) return
    await this.#put(this.#breakersKey(), now)
    this.#breakers = now
  }

  async #loadHistories(): Promise<void> {
    const { store, clock } = this.#parts
    const prefix = this.#historyPrefix()
    const found: StoreEntry[] = []
    for await (const page of readPages(store, { prefix })) found.push(...page)
    // Those that were stored last are kept.
    found.sort((one, other) => other.revision - one.revision)
    for (const { key } of found.slice(HISTORIES_KEPT_MAX))
      await store.commit({ operations: [{ do: 'delete', key }] })
    for (const { key, value } of found.slice(0, HISTORIES_KEPT_MAX).reverse()) {
      const history = JSON.parse(fromBytes(value)) as GraphHistory
      const name = decodeURIComponent(key.slice(prefix.length))
      this.#known.set(name, { history, basis: history, basisMs: clock.monotonicMs() })
    }
  }

  #knownOf(graphName: string): Known {
    return this.#known.getOrAdd(graphName, () => ({ history: {}, basis: {}, basisMs: -Infinity }))
  }

  async #put(key: string, value: object): Promise<void> {
    const { store, pace } = this.#parts
    const operation = { do: 'put', key, value: toBytes(JSON.stringify(value)) } as const
    // Written twice it is the same.
    const write = { batch: { operations: [operation] }, hasHappened: () => Promise.resolve('open' as const) }
    await commitGuarded(store, write, pace)
  }

  #breakersKey(): string {
    return `${engineDefinitionPrefix('breakers', this.#parts.tenant)}all`
  }

  #historyPrefix(): string {
    return engineDefinitionPrefix('history', this.#parts.tenant)
  }
}

function newKnown(): BoundedMap<string, Known> {
  return new BoundedMap({ max: HISTORIES_KEPT_MAX, evict: 'least-recently-used' })
}

/** Of units whose duration and failures depend on somebody; not of those that were cancelled or skipped. */
function runOf({ graph }: Execution, { role, unit, record }: AttemptRow): RecordedRun | undefined {
  const type = indexOf(graph).units.get(unit)?.type
  if (role !== 'run' || (type !== 'SIMPLE' && type !== 'SUB_WORKFLOW' && type !== 'HUMAN')) return undefined
  const { status, startTimeMs, updateTimeMs } = record
  const succeeded = status === 'COMPLETED'
  if (!succeeded && !FAILURES.has(status)) return undefined
  return { unit, succeeded, durationMs: startTimeMs === 0 ? 0 : Math.max(0, updateTimeMs - startTimeMs) }
}

const FAILURES: ReadonlySet<string> = new Set([
  'FAILED',
  'FAILED_WITH_TERMINAL_ERROR',
  'TIMED_OUT',
  'COMPLETED_WITH_ERRORS',
])
