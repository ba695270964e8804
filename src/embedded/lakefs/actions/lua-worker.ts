/**
 * The body of the thread that reads action files and runs Lua. It is a function turned into text, so that it runs from the
 * TypeScript sources and from the built package: **nothing outside the function may be used in it**.
 *
 * Lua sees no file, no network, no process, no JavaScript object. Every run has a fresh state.
 */

import type * as WorkerThreads from 'node:worker_threads'

import type * as Wasmoon from 'wasmoon'
import type * as Yaml from 'yaml'

import type { LuaModule } from './lua-module.ts'

export interface HookThreadData {
  /** Where the packages are. */
  readonly wasmoon: string
  readonly yaml: string
  readonly module: LuaModule
}

export interface LuaJob {
  readonly kind: 'lua'
  readonly script: string
  /** Lua source that sets the globals of the run; literals only. */
  readonly globals: string
  readonly memoryBytes: number
  readonly outputMaxBytes: number
  readonly errorMaxBytes: number
  /** With more memory than this the thread is spent. */
  readonly keptBytes: number
}

export interface LuaOutcome {
  /** What the script printed, cut at the limit. */
  readonly output: string
  /** Undefined when the script succeeded; cut at the limit. */
  readonly error: string | undefined
  /** The thread must not be used again: it has grown, or something other than Lua failed. */
  readonly isSpent: boolean
}

export interface ParseJob {
  readonly kind: 'parse'
  readonly texts: readonly string[]
  /** For all results together. */
  readonly maxChars: number
}

/** What each text says, as JSON, up to the first that cannot be read. */
export interface ParseOutcome {
  readonly documents: readonly string[]
  readonly error: string | undefined
}

export const LUA_WORKER_SOURCE = `(${luaWorkerBody.toString()})(require)`

function luaWorkerBody(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads
  const { parentPort } = threads
  const data = threads.workerData as HookThreadData
  // The module writes each refused growth of its memory to standard error.
  console.error = console.warn = () => undefined
  const wasm = (globalThis as unknown as { WebAssembly: { instantiate: (...args: object[]) => unknown } })
    .WebAssembly
  const { instantiate } = wasm
  wasm.instantiate = async (_bytes, imports = {}) => ({ instance: await instantiate(data.module, imports) })
  const { LuaFactory } = load(data.wasmoon) as typeof Wasmoon
  const factory = new LuaFactory()
  const YIELDED = 1
  const OUT_OF_MEMORY = 4

  // `load` takes only text: crafted bytecode could escape from the Lua state.
  const prelude = `
    local parts, size, limit = {}, 0, tonumber(LIMIT)
    LIMIT = nil
    print = function(...)
      local words = table.pack(...)
      for i = 1, words.n do words[i] = tostring(words[i]) end
      local line = table.concat(words, "\\t") .. "\\n"
      if size < limit then
        line = string.sub(line, 1, limit - size)
        parts[#parts + 1] = line
        size = size + #line
      end
    end
    local plainLoad = load
    load = function(chunk, name, mode, env) return plainLoad(chunk, name, "t", env or _G) end
    os = { time = os.time, date = os.date, clock = os.clock, difftime = os.difftime }
    local concat = table.concat
    io, debug, package, require, dofile, loadfile, warn = nil
    return function() return concat(parts) end
  `

  /** The text of a value; no more of it becomes a JavaScript string than is wanted. */
  function textAt(thread: Wasmoon.LuaThread, index: number, maxBytes: number): string {
    const { module } = thread.lua
    const lengthAt = module._malloc(4)
    const numbers = ['number', 'number', 'number'] as ['number', 'number', 'number']
    const pointer = module.ccall('luaL_tolstring', 'number', numbers, [thread.address, index, lengthAt])
    const length = module.getValue(lengthAt, 'i32')
    module._free(lengthAt)
    const text = Buffer.from(module.HEAPU8.buffer, pointer, Math.min(length, maxBytes)).toString()
    thread.pop()
    return length > maxBytes ? `${text.replace(/\ufffd+$/, '')}…` : text
  }

  async function runScript(thread: Wasmoon.LuaThread, { script, errorMaxBytes }: LuaJob): Promise<void> {
    try {
      thread.loadString(script, 'lua')
    } catch (error) {
      throw new Error(`syntax error: ${(error as Error).message.slice(0, errorMaxBytes)}`, {
        cause: error,
      })
    }
    let step = thread.resume(0)
    let status: number = step.result
    // What the script gives back, by a yield or at its end, is not looked at: a table would be copied whole.
    while (status === YIELDED) {
      thread.pop(step.resultCount)
      await new Promise((resolve) => setImmediate(resolve))
      step = thread.resume(0)
      status = step.result
    }
    if (status === 0) return
    const message = textAt(thread, -1, errorMaxBytes)
    let trace = ''
    if (status !== OUT_OF_MEMORY) {
      thread.lua.luaL_traceback(thread.address, thread.address, null, 1)
      trace = textAt(thread, -1, errorMaxBytes)
    }
    const hasTrace = trace !== '' && trace.trim() !== 'stack traceback:'
    throw new Error(`runtime error: ${message}${hasTrace ? `\n${trace}` : ''}`)
  }

  async function run(job: LuaJob): Promise<LuaOutcome> {
    const engine = await factory.createEngine({
      injectObjects: false,
      enableProxy: false,
      traceAllocations: true,
    })
    const { global } = engine
    let readOutput: () => string = () => ''
    let error: string | undefined
    let output = ''
    let isSpent = false
    try {
      await engine.doString(`LIMIT = "${String(job.outputMaxBytes)}"`)
      readOutput = (await engine.doString(prelude)) as () => string
      await engine.doString(job.globals)
      global.setMemoryMax(global.getMemoryUsed() + job.memoryBytes)
      await runScript(global.newThread(), job)
    } catch (failure) {
      // A trap of the virtual machine itself, or its stack run over.
      isSpent =
        !(failure instanceof Error) || failure instanceof RangeError || failure.name === 'RuntimeError'
      error = failure instanceof Error ? failure.message : String(failure)
    }
    try {
      // To put the output together takes memory too. The limit stays: finalizers run now, and when the state is closed.
      global.setMemoryMax(global.getMemoryUsed() + 4 * job.outputMaxBytes)
      if (!isSpent) output = readOutput()
      global.close()
    } catch (failure) {
      isSpent = true
      error ??= failure instanceof Error ? failure.message : String(failure)
    }
    isSpent ||= global.lua.module.HEAPU8.length > job.keptBytes
    return { output, error: error?.slice(0, 2 * job.errorMaxBytes), isSpent }
  }

  function parse({ texts, maxChars }: ParseJob): ParseOutcome {
    const yaml = load(data.yaml) as typeof Yaml
    const documents: string[] = []
    let left = maxChars
    for (const text of texts) {
      try {
        const document = JSON.stringify(yaml.parse(text, { maxAliasCount: 100, logLevel: 'error' }))
        left -= document.length
        if (left < 0) throw new Error(`the action files say more than ${String(maxChars)} characters`)
        documents.push(document)
      } catch (error) {
        return { documents, error: error instanceof Error ? error.message : String(error) }
      }
    }
    return { documents, error: undefined }
  }

  parentPort?.on('message', (job: LuaJob | ParseJob) => {
    if (job.kind === 'parse') {
      parentPort.postMessage(parse(job))
      return
    }
    run(job).then(
      (outcome) => {
        parentPort.postMessage(outcome)
      },
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        parentPort.postMessage({ output: '', error: message, isSpent: true })
      },
    )
  })
}
