// Tasks of the integration tests: worker processes load this module, with the package as it was built.
import { existsSync, writeFileSync } from 'node:fs'
import { defineCommandTask, defineWorkspaceTask, requireFile } from 'perago'
import { z } from 'zod'

const params = z.object({
  text: z.string(),
  begun: z.string().optional(),
  go: z.string().optional(),
  spin: z.boolean().optional(),
})
const declared = {
  owner: 'data@example.org',
  params,
  result: z.object({ chars: z.int() }),
  workspace: { prefix: 'orders', post: [requireFile('out.txt', { minBytes: 1 })] },
  controls: {
    retry: { delaySeconds: 0, jitterMs: 0 },
    timeout: { responseSeconds: 3 },
    publishBudget: {
      publishSeconds: 1,
      completionSeconds: 0.2,
      heartbeatSeconds: 0.5,
      shutdownGraceSeconds: 0.1,
    },
  },
}

const body = async ({ workspace, params: { text, begun, go, spin }, attempt, signal }) => {
  writeFileSync(workspace.path('out.txt'), `${text} by attempt ${attempt.retryCount}`)
  if (begun !== undefined) writeFileSync(begun, String(process.pid))
  while (go !== undefined && !existsSync(go)) {
    // Never yields, or looks again soon.
    if (!spin) await new Promise((resolve) => setTimeout(resolve, 20))
    if (signal.aborted) throw signal.reason
  }
  return { chars: text.length }
}

export const here = defineWorkspaceTask({ ...declared, name: 'here', body })
export const thread = defineWorkspaceTask({ ...declared, name: 'thread', runIn: 'thread', body })
export const child = defineWorkspaceTask({ ...declared, name: 'child', runIn: 'process', body })
export const program = defineCommandTask({
  ...declared,
  name: 'program',
  command: [
    process.execPath,
    '-e',
    `const { text } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
     require('node:fs').writeFileSync('out.txt', text + ' by a program')
     console.log(JSON.stringify({ chars: text.length }))`,
  ],
  resultFrom: 'stdout',
})
