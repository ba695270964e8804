/**
 * Reads action files and runs Lua scripts in threads of their own, so that an endless loop blocks its thread and never the
 * server: at the deadline the thread is ended and a new one replaces it.
 */

import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

import { once } from '../../../base/once.ts'
import {
  EMBEDDED_ACTIONS_MAX_CHARS,
  EMBEDDED_HOOK_ERROR_MAX_BYTES,
  EMBEDDED_HOOK_OUTPUT_MAX_BYTES,
  EMBEDDED_HOOK_THREAD_KEPT_BYTES,
  EMBEDDED_HOOK_WORKERS_MAX,
} from '../../limits.ts'
import { toLuaSource } from './lua-literal.ts'
import { compileLua } from './lua-module.ts'
import {
  LUA_WORKER_SOURCE,
  type HookThreadData,
  type LuaJob,
  type LuaOutcome,
  type ParseJob,
  type ParseOutcome,
} from './lua-worker.ts'

interface LuaRun {
  readonly script: string
  readonly globals: Readonly<Record<string, unknown>>
}

interface LuaResult {
  readonly output: string
  readonly error: string | undefined
}

interface LuaLimits {
  readonly timeMs: number
  readonly memoryBytes: number
}

type Outcome = LuaOutcome | ParseOutcome

export class LuaPool {
  readonly #limits: LuaLimits
  readonly #idle: Worker[] = []
  readonly #waiting: (() => void)[] = []
  readonly #workers = new Set<Worker>()
  readonly #compile = once(() => compileLua(this.#limits.memoryBytes))
  #busy = 0
  #closed = false

  constructor(limits: LuaLimits) {
    this.#limits = limits
  }

  async run({ script, globals }: LuaRun): Promise<LuaResult> {
    // The loader would read what follows a NUL, or precompiled code, as something else than what a reader sees.
    if (script.includes('\0') || script.startsWith('\u001b')) {
      return { output: '', error: 'the script is not plain text' }
    }
    const outcome = await this.#do<LuaOutcome>({
      kind: 'lua',
      script,
      globals: toLuaSource(globals),
      memoryBytes: this.#limits.memoryBytes,
      outputMaxBytes: EMBEDDED_HOOK_OUTPUT_MAX_BYTES,
      errorMaxBytes: EMBEDDED_HOOK_ERROR_MAX_BYTES / 2,
      keptBytes: EMBEDDED_HOOK_THREAD_KEPT_BYTES,
    })
    return typeof outcome === 'string'
      ? { output: '', error: outcome }
      : { output: outcome.output, error: outcome.error }
  }

  /** What texts in YAML say, as JSON, up to the first that cannot be read. One deadline is for all of them. */
  async parse(texts: readonly string[]): Promise<ParseOutcome> {
    const outcome = await this.#do<ParseOutcome>({
      kind: 'parse',
      texts,
      maxChars: EMBEDDED_ACTIONS_MAX_CHARS,
    })
    return typeof outcome === 'string' ? { documents: [], error: outcome } : outcome
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  /** The outcome, or why there is none. */
  async #do<Wanted extends Outcome>(job: LuaJob | ParseJob): Promise<Wanted | string> {
    await this.#takeTurn()
    try {
      const worker = this.#idle.pop() ?? (await this.#start())
      return (await this.#runOn(worker, job)) as Wanted | string
    } finally {
      this.#busy -= 1
      this.#waiting.shift()?.()
    }
  }

  async #takeTurn(): Promise<void> {
    if (this.#busy >= EMBEDDED_HOOK_WORKERS_MAX) {
      // Bounded: the scripts before this one are ended at their deadlines.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#busy += 1
  }

  async #start(): Promise<Worker> {
    const { resolve } = createRequire(import.meta.url)
    const workerData: HookThreadData = {
      wasmoon: resolve('wasmoon'),
      yaml: resolve('yaml'),
      module: await this.#compile(),
    }
    const worker = new Worker(LUA_WORKER_SOURCE, {
      eval: true,
      workerData,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    this.#workers.add(worker)
    worker.once('exit', () => {
      this.#workers.delete(worker)
      const index = this.#idle.indexOf(worker)
      if (index >= 0) this.#idle.splice(index, 1)
    })
    return worker
  }

  #runOn(worker: Worker, job: LuaJob | ParseJob): Promise<Outcome | string> {
    return new Promise((resolve) => {
      const settle = (result: Outcome | string, isReusable: boolean): void => {
        clearTimeout(deadline)
        worker.off('message', onMessage)
        worker.off('error', onError)
        worker.off('exit', onExit)
        if (isReusable && !this.#closed) {
          // An idle thread must not keep the process alive.
          worker.unref()
          this.#idle.push(worker)
        } else {
          worker.once('error', ignoreError)
          worker.terminate().catch(ignoreError)
        }
        resolve(result)
      }
      const fail = (error: string): void => {
        settle(error, false)
      }
      const onMessage = (outcome: Outcome): void => {
        settle(outcome, !('isSpent' in outcome && outcome.isSpent))
      }
      const onError = (error: Error): void => {
        fail(`the Lua thread failed: ${error.message}`)
      }
      const onExit = (): void => {
        fail('the Lua thread ended')
      }
      const deadline = setTimeout(() => {
        fail(`it ran longer than ${String(this.#limits.timeMs)} ms and was ended`)
      }, this.#limits.timeMs)
      worker.ref()
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.on('exit', onExit)
      worker.postMessage(job)
    })
  }
}

function ignoreError(): void {
  // The thread is being ended already.
}
