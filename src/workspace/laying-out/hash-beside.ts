/**
 * Hashes files while they are written, in another thread, because MD5 is slower than the network. One thread serves the
 * whole process and ends when it was idle for a while.
 */

import { setTimeout } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_HASH_THREAD_IDLE_MS } from '../limits.ts'
import { entryUrl } from '../../base/module-entry.ts'

export type ToHashThread =
  | { readonly type: 'open'; readonly id: number; readonly path: string }
  | { readonly type: 'reach' | 'digest'; readonly id: number; readonly bytes: number }
  | { readonly type: 'drop'; readonly id: number }

export type FromHashThread =
  { readonly id: number; readonly md5: string } | { readonly id: number; readonly error: string }

export interface FileHash {
  /** That many bytes of the file are written and do not change any more. */
  reach(bytes: number): void
  /** The MD5 of that many bytes, which are written, in hexadecimal. May be called once, and then nothing else. */
  digest(bytes: number): Promise<string>
  /** The hash is not needed. May be called twice, and after `digest`. */
  drop(): void
}

/** The file exists; it may be empty. */
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
    this.#thread.on('message', (message: FromHashThread) => this.#onMessage(message))
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
          // The process must not end before it is there.
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

  #onMessage(message: FromHashThread): void {
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
    next: 'Try again; check that the disk can be read and that memory is left.',
  })
}
