// Tasks whose bodies run in threads and processes: those load this module themselves, with the package as it was built.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { defineTask, TerminalError } from 'perago'
import { z } from 'zod'

const any = { owner: 'data@example.org', params: z.looseObject({}), result: z.any() }
const both = (name, body) =>
  ['thread', 'process'].map((runIn) => defineTask({ ...any, name: `${name}.${runIn}`, runIn, body }))

const tasks = [
  ...both('echo', ({ params, attempt, log, progress }) => {
    log.child({ a: 1 }).info('hello', { error: new Error('shown') })
    progress(1, 2, 'half')
    console.log('printed')
    return { params, attempt }
  }),
  ...both('large', ({ params }) => 'x'.repeat(params.chars)),
  ...both('exit', ({ params }) => process.exit(params.status)),
  ...both('crash', () => {
    setImmediate(() => {
      throw new Error('out of nowhere')
    })
    return new Promise(() => undefined)
  }),
  ...both('forgets', async () => {
    void Promise.reject(new Error('nobody waited'))
    return 'as if done'
  }),
  ...both('fails', ({ params }) => {
    if (params.terminal) throw new TerminalError('for good', { details: { line: 3 } })
    throw new TypeError('no rows')
  }),
  ...both('spin', ({ params }) => {
    writeFileSync(params.begun, '')
    for (;;);
  }),
  ...both('listens', ({ params, signal, shutdown }) => {
    writeFileSync(params.begun, '')
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => {
        writeFileSync(params.ended, String(signal.reason.message))
        reject(signal.reason)
      })
      shutdown.addEventListener('abort', () => resolve('told'))
    })
  }),
  defineTask({
    ...any,
    name: 'family',
    runIn: 'process',
    body: ({ params }) => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
      writeFileSync(params.begun, String(child.pid))
      return new Promise(() => undefined)
    },
  }),
  defineTask({
    ...any,
    name: 'leaves-child',
    runIn: 'process',
    body: () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
      child.unref()
      return child.pid
    },
  }),
]

export const all = Object.fromEntries(tasks.map((task) => [task.name, task]))
// `loadTasks` looks at exports only.
export const [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17] = tasks
