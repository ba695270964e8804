/**
 * Fsync of one directory, shared: all calls during a sync share the next one, since the current one may have begun
 * before their rename.
 */

import { open, type FileHandle } from 'node:fs/promises'

export class DirectorySyncer {
  readonly #directory: string
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Opened once: opening and closing would cost as much as a small sync itself. */
  #handle: Promise<FileHandle> | undefined

  constructor(directory: string) {
    this.#directory = directory
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
    this.#handle ??= open(this.#directory, 'r')
    try {
      await (await this.#handle).sync()
    } catch (error) {
      // The next one opens the directory again.
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
