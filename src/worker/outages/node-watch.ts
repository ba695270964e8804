/**
 * Faults of this machine, as the worker meets them: a full disk, no more files, no memory. It takes no tasks until a file of some
 * size can be written below its root again.
 */

import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { isPeragoError, messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { nodeFaultOf } from '../../base/node-fault.ts'
import { once } from '../../base/once.ts'
import { NODE_PROBE_BYTES, NODE_PROBE_MAX_MS, NODE_PROBE_MS } from '../limits.ts'
import type { Outage, OutageWatch } from './outage.ts'

export interface NodeWatchOptions {
  /** Of the worker's own, below its root. */
  readonly directory: string
  readonly clock: Clock
  readonly logger: Logger
  /** Gives up what the worker keeps for later tasks; called before each probe. */
  readonly makeRoom?: () => Promise<unknown>
  /** Rejects while the fault lasts. */
  readonly probe?: (directory: string) => Promise<void>
}

export class NodeWatch implements OutageWatch {
  readonly #options: Required<NodeWatchOptions>
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #fault: Outage | undefined
  #watching: Promise<void> = Promise.resolve()
  readonly close = once(async () => {
    this.#closing.abort(new Error('the watch over the machine is closed'))
    await this.#watching
  })

  constructor(options: NodeWatchOptions) {
    this.#options = { makeRoom: () => Promise.resolve(), probe: writeSomething, ...options }
  }

  outages(): readonly Outage[] {
    return this.#fault === undefined ? [] : [this.#fault]
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A body or its program meets a fault in its own words, and perhaps elsewhere: then it counts only if it is seen here, too. */
  async explain(error: unknown): Promise<Outage | undefined> {
    if (!isPeragoError(error) || !/^(task|worker)\//.test(error.code)) return this.notice(error)
    const { probe, directory } = this.#options
    return probe(directory).then(
      () => undefined,
      (found: unknown) => this.notice(found),
    )
  }

  /** Takes note of a fault that the worker's own files met; `undefined` if the error is none. */
  notice(error: unknown): Outage | undefined {
    const isFull = isPeragoError(error) && error.code === 'workspace/disk-full'
    const fault = nodeFaultOf(error) ?? (isFull ? { code: 'ENOSPC', what: 'the disk is full' } : undefined)
    if (fault === undefined) return undefined
    if (this.#fault === undefined && !this.#closing.signal.aborted) {
      const { clock, logger } = this.#options
      logger.debug('a fault of this machine', { error })
      this.#fault = {
        what: 'node',
        why: `this machine cannot work: ${fault.what} (${fault.code})`,
        sinceMs: clock.monotonicMs(),
      }
      this.#watching = this.#untilGone()
      this.#tellAll()
    }
    return this.#fault
  }

  async #untilGone(): Promise<void> {
    const { clock, logger, directory, makeRoom, probe } = this.#options
    const { signal } = this.#closing
    for (let pauseMs = NODE_PROBE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, NODE_PROBE_MAX_MS)) {
      await clock.sleep(pauseMs, signal).catch(() => undefined)
      if (isAborted(signal)) return
      try {
        await makeRoom()
        await probe(directory)
        break
      } catch (error) {
        logger.debug('the fault of this machine is not gone', { why: messageOf(error) })
      }
    }
    this.#fault = undefined
    this.#tellAll()
  }

  #tellAll(): void {
    for (const listen of this.#listeners) listen()
  }
}

const PIECE_BYTES = 1_048_576

/** Not empty, because a file system without room still takes empty files; and not of zeros, which some do not store. */
async function writeSomething(directory: string): Promise<void> {
  const path = join(directory, `probe-${process.pid}`)
  try {
    const file = await open(path, 'w', 0o600)
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let byte = 0; byte < PIECE_BYTES; byte += 4) piece.writeInt32LE(Math.imul(byte, 0x9e3779b1), byte)
      for (let written = 0; written < NODE_PROBE_BYTES; written += PIECE_BYTES) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
  } finally {
    await rm(path, { force: true })
  }
}
