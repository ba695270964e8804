/**
 * A shared space whose values are the variables `shared.NAME` of an execution, so that they outlive the process.
 *
 * Variables are written asynchronously, and a shared space answers at once: reads and subscribers are served from memory, and
 * every change is written behind them, in order. What is not flushed when the process dies is lost. One process may write a
 * space at a time: changes that others make to the variables are not seen after the opening.
 */

import type { Json } from '../../base/json.ts'
import { decodeJson, encodeJson } from '../../core/json.ts'
import type { ExecutionVariables } from '../../core/life-cycle/execution.ts'
import { VARIABLE_MAX_BYTES } from '../../core/limits.ts'
import { parseVariableName } from '../../core/namespaces/names.ts'
import { MemorySharedSpace } from './memory-shared-space.ts'
import type { PlanBacking, SpaceCallback } from './shared-space.ts'
import type { SubscriberOptions } from './subscribers.ts'

const NAMESPACE = 'shared'

/** Loads what the execution's variables hold. Keys are words as in variable names, values are JSON and are copied. */
export async function openVariableSharedSpace(
  variables: Pick<ExecutionVariables, 'list' | 'set' | 'remove'>,
  options: SubscriberOptions = {},
): Promise<VariableSharedSpace> {
  const stored = await variables.list(NAMESPACE)
  const memory = new MemorySharedSpace(options)
  for (const [name, value] of Object.entries(stored)) memory.Set(name.slice(NAMESPACE.length + 1), value)
  return new VariableSharedSpace(variables, memory)
}

export class VariableSharedSpace implements PlanBacking {
  readonly #variables: Pick<ExecutionVariables, 'set' | 'remove'>
  readonly #memory: MemorySharedSpace
  #written: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  /** @internal Use `openVariableSharedSpace`. */
  constructor(variables: Pick<ExecutionVariables, 'set' | 'remove'>, memory: MemorySharedSpace) {
    this.#variables = variables
    this.#memory = memory
  }

  Set(key: string, value: unknown): void {
    const { full } = parseVariableName(`${NAMESPACE}.${key}`)
    const copy = copyOf(key, value)
    this.#write(() => this.#variables.set(full, copy))
    this.#memory.Set(key, copy)
  }

  Get(key: string): unknown {
    return this.#memory.Get(key)
  }

  Delete(key: string): void {
    if (this.#memory.Has(key)) this.#remove(key)
    this.#memory.Delete(key)
  }

  Clear(): void {
    for (const key of this.Keys()) this.#remove(key)
    this.#memory.Clear()
  }

  ClearNotify(): void {
    for (const key of this.Keys()) this.#remove(key)
    this.#memory.ClearNotify()
  }

  Subscribe(key: string, callback: SpaceCallback): void {
    this.#memory.Subscribe(key, callback)
  }

  Unsubscribe(key: string): void {
    this.#memory.Unsubscribe(key)
  }

  Trigger(key: string, value: unknown): void {
    this.#memory.Trigger(key, value)
  }

  Has(key: string): boolean {
    return this.#memory.Has(key)
  }

  Keys(): readonly string[] {
    return this.#memory.Keys()
  }

  UnsubscribeAll(): void {
    this.#memory.UnsubscribeAll()
  }

  /** Resolves when everything is written; rejects with the first write that failed, after which nothing is written. */
  async flush(): Promise<void> {
    await this.#written
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #remove(key: string): void {
    this.#write(async () => {
      await this.#variables.remove(`${NAMESPACE}.${key}`)
    })
  }

  #write(work: () => Promise<void>): void {
    this.#written = this.#written.then(async () => {
      // A later write without the one before it would leave a state that never was.
      if (this.#failure !== undefined) return
      try {
        await work()
      } catch (error) {
        this.#failure = { error }
      }
    })
  }
}

/** As it is stored: a value that JSON cannot hold is refused with its path, by the error that the core has for it. */
function copyOf(key: string, value: unknown): Json {
  return decodeJson(encodeJson(value, { what: `shared value "${key}"`, bytesMax: VARIABLE_MAX_BYTES }))
}
