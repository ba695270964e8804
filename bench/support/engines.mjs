// Engines of a bench, each in its own process.
import { fileURLToPath } from 'node:url'
import { startProgram } from './processes.mjs'

const ENTRY = fileURLToPath(new URL('engine-process.mjs', import.meta.url))

/** `place`: where its store is, and whether it serves Conductor's API; see `engine-process.mjs`. */
export async function openEngineProcess(bench, place, { args = [] } = {}) {
  const program = startProgram(process.execPath, [...args, ENTRY], { ipc: true })
  bench.defer(() => program.close())
  const waiting = new Map()
  let last = 0
  program.child.on('message', ({ id, answer, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) resolve(answer)
    else reject(new Error(error))
  })
  program.child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`the engine ended: ${program.said()}`))
  })
  const ask = (act, told) =>
    new Promise((resolve, reject) => {
      waiting.set((last += 1), { resolve, reject })
      program.child.send({ id: last, act, told })
    })
  const opened = await ask('open', place)
  return {
    pid: program.pid,
    opened,
    ask,
    /** Without letting it end anything. */
    async kill() {
      const gone = new Promise((resolve) => program.child.once('exit', resolve))
      program.child.kill('SIGKILL')
      await gone
    },
    async close() {
      await ask('stop')
      await program.close()
    },
  }
}

/** A task that does nothing, and a pipeline of so many of them in a row. */
export function chainOf(name, task, length) {
  return {
    task: {
      name: task,
      retryCount: 3,
      retryDelaySeconds: 0,
      responseTimeoutSeconds: 60,
      timeoutPolicy: 'RETRY',
    },
    graph: {
      ...{
        name,
        version: 1,
        inputTemplate: {},
        restartable: true,
        timeoutSeconds: 0,
        timeoutPolicy: 'ALERT_ONLY',
      },
      units: Array.from({ length }, (_, index) => ({
        ...{ type: 'SIMPLE', name: task, taskReferenceName: `u${index}`, inputParameters: {} },
        after: index === 0 ? [] : [`u${index - 1}`],
      })),
    },
  }
}
