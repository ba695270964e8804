// Tasks whose bodies crash their host, or wait for another process. Uses the built package.
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineCommandTask, defineTask, defineWorkspaceTask } from 'perago'
import { z } from 'zod'

const LOOK_MS = 20
const controls = { retry: { delaySeconds: 0, jitterMs: 0 } }
const declared = {
  owner: 'data@example.org',
  params: z.object({
    /** Written, with the process id, when a body runs; one per attempt. */
    begun: z.string(),
    /** The first attempt waits for it. */
    go: z.string().optional(),
    how: z.enum(['exit', 'crash']).optional(),
  }),
  result: z.object({ attempt: z.int() }),
  controls,
}

async function body({ params: { begun, go, how }, attempt: { retryCount }, signal }) {
  writeFileSync(`${begun}-${retryCount}`, String(process.pid))
  while (go !== undefined && retryCount === 0 && !existsSync(go)) await wait(LOOK_MS, undefined, { signal })
  if (retryCount === 0 && how === 'exit') process.exit(0)
  if (retryCount === 0 && how === 'crash') {
    setImmediate(() => {
      throw new Error('out of nowhere')
    })
    await new Promise(() => undefined)
  }
  return { attempt: retryCount }
}

export const inline = defineTask({ ...declared, name: 'must_inline', body })
export const thread = defineTask({ ...declared, name: 'must_thread', runIn: 'thread', body })
export const child = defineTask({ ...declared, name: 'must_process', runIn: 'process', body })

const PROGRAM = `
  const { writeFileSync, existsSync } = require('node:fs')
  const { begun, go } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
  const attempt = existsSync(begun + '-0') ? 1 : 0
  writeFileSync(begun + '-' + attempt, String(process.pid))
  const look = () => {
    if (attempt === 0 && !existsSync(go)) setTimeout(look, 20)
    else console.log(JSON.stringify({ attempt }))
  }
  look()`
export const program = defineCommandTask({
  ...declared,
  name: 'must_program',
  command: [process.execPath, '-e', PROGRAM],
  resultFrom: 'stdout',
})

const write = async (given) => {
  const result = await body(given)
  writeFileSync(given.workspace.path('out.txt'), given.attempt.taskId)
  return result
}
const files = { ...declared, workspace: { prefix: 'data' }, body: write }
export const writes = defineWorkspaceTask({ ...files, name: 'must_write' })
export const replacesOwn = defineWorkspaceTask({
  ...files,
  name: 'must_write_own',
  controls: { ...controls, replace: 'own' },
})
