/**
 * Fsync of one directory, shared: everybody who asks while a sync is under way is served by one further sync, since
 * the one under way may have begun before their rename.
 */

import { open, type FileHandle } from 'node:fs/promises'

export class DirectorySyncer {
  readonly #directory: string
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  #syncs = 0
  /** Opened once: opening and closing would cost as much as a small sync itself. */
  #handle: Promise<FileHandle> | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** How often the directory was really synced. */
  get syncs(): number {
    return this.#syncs
  }

  /** Resolves when every entry made in the directory before this call is durable. */
  sync(): Promise<void> {
    if (this.#current === undefined) return this.#begin()
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    )
    return this.#next
  }

  /** After the last sync; waits for the one under way. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#current, this.#next])
    await this.#closeHandle()
  }

  #begin(): Promise<void> {
    this.#next = undefined
    const current = this.#syncOnce().finally(() => {
      if (this.#current === current) this.#current = undefined
    })
    this.#current = current
    return current
  }

  async #syncOnce(): Promise<void> {
    this.#syncs += 1
    this.#handle ??= open(this.#directory, 'r')
    try {
      await (await this.#handle).sync()
    } catch (error) {
      // Whatever it was, the next one begins afresh.
      await this.#closeHandle()
      throw error
    }
  }

  async #closeHandle(): Promise<void> {
    const [opened] = await Promise.allSettled([this.#handle])
    this.#handle = undefined
    if (opened.status === 'fulfilled') await opened.value?.close()
  }
}
