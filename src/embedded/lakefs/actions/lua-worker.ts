/**
 * The body of the thread that runs Lua. It is a function turned into text, so that it runs from the TypeScript sources
 * and from the built package: **nothing outside the function may be used in it**.
 *
 * Lua sees no file, no network, no process, no JavaScript object. Every run has a fresh state.
 */

import type * as WorkerThreads from 'node:worker_threads'

import type * as Wasmoon from 'wasmoon'

export interface LuaJob {
  readonly script: string
  /** Lua source that sets the globals of the run; literals only. */
  readonly globals: string
  readonly memoryBytes: number
  readonly outputMaxBytes: number
}

export interface LuaOutcome {
  /** What the script printed, cut at the limit. */
  readonly output: string
  /** Undefined when the script succeeded. */
  readonly error: string | undefined
  /** The thread must not be used again: something other than Lua failed. */
  readonly isBroken: boolean
}

export const LUA_WORKER_SOURCE = `(${luaWorkerBody.toString()})(require)`

function luaWorkerBody(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads
  const { parentPort } = threads
  const { wasmoon } = threads.workerData as { readonly wasmoon: string }
  const { LuaFactory } = load(wasmoon) as typeof Wasmoon
  const factory = new LuaFactory()

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

  async function run(job: LuaJob): Promise<LuaOutcome> {
    const engine = await factory.createEngine({
      injectObjects: false,
      enableProxy: false,
      traceAllocations: true,
    })
    let readOutput: () => string = () => ''
    let kind = 'runtime error'
    try {
      await engine.doString(`LIMIT = "${String(job.outputMaxBytes)}"`)
      readOutput = (await engine.doString(prelude)) as () => string
      await engine.doString(job.globals)
      engine.global.setMemoryMax(engine.global.getMemoryUsed() + job.memoryBytes)
      const thread = engine.global.newThread()
      kind = 'syntax error'
      thread.loadString(job.script, 'lua')
      kind = 'runtime error'
      await thread.run(0)
      engine.global.setMemoryMax(undefined)
      return { output: readOutput(), error: undefined, isBroken: false }
    } catch (error) {
      engine.global.setMemoryMax(undefined)
      // A trap of the virtual machine itself, or its stack run over.
      const isBroken =
        error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')
      const message = error instanceof Error ? error.message : String(error)
      return { output: isBroken ? '' : readOutput(), error: `${kind}: ${message}`, isBroken }
    } finally {
      engine.global.close()
    }
  }

  parentPort?.on('message', (job: LuaJob) => {
    run(job).then(
      (outcome) => {
        parentPort.postMessage(outcome)
      },
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        parentPort.postMessage({ output: '', error: message, isBroken: true })
      },
    )
  })
}
