/**
 * Files of the outbox that are made ahead, so that a result is durable after one write and one sync: neither the size of
 * the file nor its directory changes. Between two results a file is blank, which is no result to whoever reads it.
 */

import { close, fdatasync, open, write } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OUTBOX_PLACE_BYTES, OUTBOX_PLACES_MAX } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { syncDirectory } from '../../base/sync-directory.ts'

const openFile = promisify(open)
const writeFile = promisify(write)
const syncData = promisify(fdatasync)
const closeFile = promisify(close)

export interface Place {
  readonly name: string
  /** Durable when this resolves. */
  fill(text: Buffer): Promise<void>
  /** For the next result; after the end of the outbox it removes the file. */
  clear(): Promise<void>
  /** The file has gone elsewhere, or nobody knows what is in it. */
  drop(): Promise<void>
}

export class OutboxPlaces {
  readonly #directory: string
  readonly #nextName: () => string
  readonly #logger: Logger
  readonly #free: Place[] = []
  readonly #all = new Set<Place>()
  #making: Promise<void> | undefined
  #isClosed = false

  constructor(options: {
    readonly directory: string
    readonly nextName: () => string
    readonly logger: Logger
  }) {
    this.#directory = options.directory
    this.#nextName = options.nextName
    this.#logger = options.logger
  }

  has(name: string): boolean {
    return [...this.#all].some((place) => place.name === name)
  }

  /** `undefined`: the result is too large for one, or none is free. */
  take(text: Buffer): Place | undefined {
    return text.byteLength < OUTBOX_PLACE_BYTES ? this.#free.pop() : undefined
  }

  /** Removes those that are free; the others hold results. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#making
    for (const place of this.#all) {
      const isFree = this.#free.includes(place)
      await place.drop()
      if (isFree) await rm(join(this.#directory, place.name), { force: true })
    }
  }

  /** One more, for the next result that finds none; nobody waits for it. */
  makeLater(): void {
    if (this.#making !== undefined || this.#isClosed || this.#all.size >= OUTBOX_PLACES_MAX) return
    this.#making = this.#make()
      .catch((error: unknown) =>
        this.#logger.warn('no file of the outbox could be made ahead; each result gets its own', { error }),
      )
      .finally(() => (this.#making = undefined))
  }

  async #make(): Promise<void> {
    const name = this.#nextName()
    const file = await openFile(join(this.#directory, name), 'wx', 0o600)
    // One after the other: the number of a closed file may soon be that of another one.
    let last: Promise<unknown> = Promise.resolve()
    const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
      const turn = last.then(work, work)
      last = turn.catch(() => undefined)
      return turn
    }
    const place: Place = {
      name,
      fill: (text) =>
        inTurn(async () => {
          if (!this.#all.has(place)) throw new Error('the outbox is closed')
          await writeWhole(file, padded(text))
          await syncData(file)
        }),
      clear: () =>
        inTurn(async () => {
          if (!this.#all.has(place)) return rm(join(this.#directory, name), { force: true })
          await writeWhole(file, BLANK)
          if (!this.#free.includes(place)) this.#free.push(place)
        }),
      drop: () =>
        inTurn(async () => {
          if (this.#all.delete(place)) await closeFile(file)
        }),
    }
    this.#all.add(place)
    try {
      await place.fill(BLANK)
      await syncDirectory(this.#directory)
    } catch (error) {
      await place.drop()
      await rm(join(this.#directory, name), { force: true })
      throw error
    }
    this.#free.push(place)
  }
}

/** Whether a file of the outbox was made ahead and holds nothing. */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

const BLANK = Buffer.alloc(OUTBOX_PLACE_BYTES, ' ')

/** White space after JSON means nothing. */
function padded(text: Buffer): Buffer {
  return Buffer.concat([text, BLANK.subarray(text.byteLength)])
}

async function writeWhole(file: number, bytes: Buffer): Promise<void> {
  for (let position = 0; position < bytes.byteLength;) {
    const { bytesWritten } = await writeFile(file, bytes, position, bytes.byteLength - position, position)
    position += bytesWritten
  }
}
