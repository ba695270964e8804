/**
 * Events, variables and ends of children that decisions ask for. The rules ask synchronously: what is not known yet is noted,
 * read from the store, and the decision is made again. What was asked for is remembered, so that a change of it causes a new
 * decision.
 */

import type { Json } from '../../base/json.ts'
import { executionId } from '../../core/keys.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import { parseVariableName } from '../../core/namespaces/names.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { ChildEnd, Moment } from '../protocol/execution.ts'

export type FactualPart = Pick<Moment, 'scope' | 'childEnd'>

export interface FactsParts {
  readonly steps: StepWriter
  /** How a child ended; `undefined` where it has not, or does not exist. */
  readonly readChildEnd: (workflowId: WorkflowId) => Promise<ChildEnd | undefined>
}

type Question =
  | { readonly is: 'event' | 'variable'; readonly name: string }
  | { readonly is: 'child'; readonly name: WorkflowId }

/** What one execution asked for in its latest decision, by the key in the store, with the revision that was read. */
type Asked = ReadonlyMap<string, number | undefined>

export class Facts {
  readonly #parts: FactsParts
  readonly #asked = new Map<WorkflowId, Asked>()
  readonly #askers = new Map<string, Set<WorkflowId>>()

  constructor(parts: FactsParts) {
    this.#parts = parts
  }

  /** Calls `decide` until it asks for nothing that was not read. It must have no side effects. */
  async settle<T>(workflowId: WorkflowId, decide: (facts: FactualPart) => T): Promise<T> {
    const known = new Map<string, unknown>()
    const asked = new Map<string, number | undefined>()
    for (;;) {
      const questions = new Map<string, Question>()
      const ask = (question: Question): unknown => {
        const key = `${question.is}:${question.name}`
        if (!known.has(key)) questions.set(key, question)
        return known.get(key)
      }
      const decided = decide({
        scope: {
          has: (name) => ask({ is: 'event', name }) === true,
          read: (name) => ask({ is: 'variable', name }) as Json | undefined,
        },
        childEnd: (name) => ask({ is: 'child', name }) as ChildEnd | undefined,
      })
      if (questions.size === 0) {
        this.#note(workflowId, asked)
        return decided
      }
      for (const [key, question] of questions) known.set(key, await this.#read(workflowId, question, asked))
    }
  }

  /** Of a changed key: whose decisions depend on it. */
  askersOf(key: string): Iterable<WorkflowId> {
    return this.#askers.get(key) ?? []
  }

  get count(): number {
    return this.#askers.size
  }

  all(): readonly WorkflowId[] {
    return [...this.#asked.keys()]
  }

  /** Those whose answers are different now. */
  async findChanged(signal: AbortSignal): Promise<readonly WorkflowId[]> {
    const changed = new Set<WorkflowId>()
    for (const key of [...this.#askers.keys()]) {
      if (signal.aborted) break
      const revision = (await this.#parts.steps.store.get(key))?.revision
      for (const workflowId of this.askersOf(key))
        if (this.#asked.get(workflowId)?.get(key) !== revision) changed.add(workflowId)
    }
    return [...changed]
  }

  forget(workflowId: WorkflowId): void {
    this.#note(workflowId, new Map())
  }

  clear(): void {
    this.#asked.clear()
    this.#askers.clear()
  }

  async #read(
    workflowId: WorkflowId,
    question: Question,
    asked: Map<string, number | undefined>,
  ): Promise<unknown> {
    const { steps, readChildEnd } = this.#parts
    if (question.is === 'child') return readChildEnd(question.name)
    const id = executionId(workflowId)
    const keys = steps.keysOf(id)
    const key =
      question.is === 'event'
        ? keys.event(question.name)
        : keys.variable(parseVariableName(question.name).full)
    const entry = await steps.store.get(key)
    // An event that has happened has happened; everything else may change.
    if (question.is === 'variable' || entry === undefined) asked.set(key, entry?.revision)
    if (question.is === 'event') return entry !== undefined
    return entry === undefined ? undefined : steps.variables.get(id, question.name)
  }

  #note(workflowId: WorkflowId, asked: Asked): void {
    for (const key of this.#asked.get(workflowId)?.keys() ?? []) {
      const askers = this.#askers.get(key)
      askers?.delete(workflowId)
      if (askers?.size === 0) this.#askers.delete(key)
    }
    if (asked.size === 0) this.#asked.delete(workflowId)
    else this.#asked.set(workflowId, asked)
    for (const key of asked.keys()) {
      const askers = this.#askers.get(key) ?? new Set()
      this.#askers.set(key, askers.add(workflowId))
    }
  }
}
