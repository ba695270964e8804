/**
 * Hashes files while they are written, in a thread of its own: MD5 is slower than a network, and whoever fetches has
 * enough to do. One thread serves the whole process; it is there while there is something to hash, and a little longer.
 */

import { setTimeout } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_HASH_THREAD_IDLE_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'
import type { FromHashThread, ToHashThread } from './hash-messages.ts'

export interface FileHash {
  /** So many bytes of the file are there, and do not change any more. */
  reach(bytes: number): void
  /** Hex MD5 of so many bytes, which are there. Once, and nothing afterwards. */
  digest(bytes: number): Promise<string>
  /** Nobody wants to know any more. Again, and after `digest`: nothing. */
  drop(): void
}

/** The file is there; it need not have any content yet. */
export function hashBeside(path: string): FileHash {
  current ??= new HashThread()
  return current.hash(path)
}

let current: HashThread | undefined

interface Wanted {
  readonly resolve: (md5: string) => void
  readonly reject: (error: Error) => void
}

class HashThread {
  readonly #thread = new Worker(entryUrl(import.meta.url, './hash-thread.ts'))
  readonly #open = new Set<number>()
  readonly #wanted = new Map<number, Wanted>()
  readonly #failed = new Map<number, Error>()
  #lastId = 0
  #ending: NodeJS.Timeout | undefined
  #ended: Error | undefined

  constructor() {
    this.#thread.unref()
    this.#thread.on('message', (message: FromHashThread) => this.#hear(message))
    this.#thread.on('error', (error) => this.#end(error))
    this.#thread.on('exit', () => this.#end(new Error('the thread has ended')))
  }

  hash(path: string): FileHash {
    const id = ++this.#lastId
    clearTimeout(this.#ending)
    this.#open.add(id)
    this.#send({ type: 'open', id, path })
    return {
      reach: (bytes) => this.#send({ type: 'reach', id, bytes }),
      digest: (bytes) =>
        new Promise<string>((resolve, reject) => {
          const failed = this.#failed.get(id) ?? this.#ended
          if (failed !== undefined) {
            reject(notHashed(failed))
            return
          }
          this.#wanted.set(id, { resolve, reject })
          // It must be awaited now, also by a process that has nothing else to do.
          this.#thread.ref()
          this.#send({ type: 'digest', id, bytes })
        }).finally(() => this.#close(id)),
      drop: () => {
        if (!this.#open.has(id)) return
        this.#send({ type: 'drop', id })
        this.#close(id)
      },
    }
  }

  #send(message: ToHashThread): void {
    if (this.#ended === undefined) this.#thread.postMessage(message)
  }

  #hear(message: FromHashThread): void {
    const { id } = message
    const wanted = this.#wanted.get(id)
    if ('md5' in message) wanted?.resolve(message.md5)
    else if (wanted !== undefined) wanted.reject(notHashed(new Error(message.error)))
    else if (this.#open.has(id)) this.#failed.set(id, new Error(message.error))
  }

  #close(id: number): void {
    this.#open.delete(id)
    this.#wanted.delete(id)
    this.#failed.delete(id)
    if (this.#wanted.size === 0) this.#thread.unref()
    if (this.#open.size > 0 || this.#ended !== undefined) return
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => {
      if (this.#open.size === 0) this.#thread.terminate().catch(() => undefined)
    }, WORKSPACE_HASH_THREAD_IDLE_MS).unref()
  }

  #end(error: Error): void {
    this.#ended ??= error
    clearTimeout(this.#ending)
    if (current === this) current = undefined
    for (const { reject } of this.#wanted.values()) reject(notHashed(error))
  }
}

function notHashed(cause: Error): UnavailableError {
  return new UnavailableError('workspace/not-hashed', `hash a file while it is written: ${cause.message}`, {
    cause,
    next: 'Try again; see whether the disk can be read and the process has memory left.',
  })
}
