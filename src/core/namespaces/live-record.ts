/**
 * The record of an execution as this process read it last. Every write has the condition that the record still has this
 * revision, so a process that has not noticed the end of an execution cannot write to it.
 */

import { MissingError } from '../../base/errors.ts'
import type { StoreCondition } from '../ports.ts'
import { decodeRecord, type ExecutionRecord } from './execution-record.ts'
import type { Scope } from './scope.ts'

export interface SeenRecord {
  readonly record: ExecutionRecord
  readonly revision: number
}

export class LiveRecord {
  readonly #scope: Scope
  #seen: SeenRecord | undefined

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** As read last; does not read. */
  get known(): SeenRecord | undefined {
    return this.#seen
  }

  /** As read last; reads it if it was never read. Throws `core/no-such-execution`. */
  async seen(): Promise<SeenRecord> {
    return this.#seen ?? (await this.read())
  }

  /** Reads it. Throws `core/no-such-execution`. */
  async read(): Promise<SeenRecord> {
    const found = await this.find()
    if (found !== undefined) return found
    throw new MissingError(
      'core/no-such-execution',
      `look for execution ${this.#scope.execution}: it does not exist`,
      {
        details: { execution: this.#scope.execution },
        next: 'Correct the id, or start the execution first.',
      },
    )
  }

  async find(): Promise<SeenRecord | undefined> {
    const entry = await this.#scope.store.get(this.#scope.keys.record)
    this.#seen =
      entry === undefined ? undefined : { record: decodeRecord(entry.value), revision: entry.revision }
    return this.#seen
  }

  note(seen: SeenRecord): void {
    this.#seen = seen
  }

  forget(): void {
    this.#seen = undefined
  }

  conditionOn({ revision }: SeenRecord): StoreCondition {
    return { key: this.#scope.keys.record, is: 'at', revision }
  }
}
