// The task of `interop_task.py`, in our words.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineWorkspaceTask, requireFile, TerminalError } from 'perago'
import { z } from 'zod'

const LOOK_MS = 20

export const declare = (name, timing = {}) =>
  defineWorkspaceTask({
    name,
    owner: 'data@example.org',
    description: 'Appends a line.',
    params: z.object({
      line: z.string(),
      file: z.string().default('log.txt'),
      ending: z.enum(['publish', 'idle', 'fail', 'terminal', 'post']).default('publish'),
      tags: z.array(z.string()).default([]),
      share: z.number().min(0).max(1).default(0.5),
      note: z.string().nullable().default(null),
      begun: z.string().nullable().default(null),
      go: z.string().nullable().default(null),
    }),
    result: z.strictObject({ lines: z.int().min(0) }),
    workspace: { prefix: 'shared', pre: [requireFile('log.txt')], post: [requireFile('log.txt')] },
    controls: {
      retry: { count: 2, logic: 'FIXED', delaySeconds: 0, maxDelaySeconds: 0, jitterMs: 0, ...timing.retry },
      timeout: { policy: 'RETRY', responseSeconds: 60, ...timing.timeout },
      ...(timing.publishBudget === undefined ? {} : { publishBudget: timing.publishBudget }),
    },
    async body({ workspace, params: { line, file, ending, begun, go }, signal }) {
      const path = workspace.path(file)
      if (begun !== null) writeFileSync(begun, String(process.pid))
      while (go !== null && !existsSync(go)) await wait(LOOK_MS, undefined, { signal })
      if (ending === 'fail') throw new Error('told to fail')
      if (ending === 'terminal') throw new TerminalError('told to fail for good')
      if (ending === 'post') {
        rmSync(path)
        return { lines: 0 }
      }
      if (ending === 'publish') appendFileSync(path, `${line}\n`)
      return { lines: readFileSync(path, 'utf8').split('\n').length - 1 }
    },
  })
