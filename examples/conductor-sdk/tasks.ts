import { readFile, writeFile } from 'node:fs/promises'
import { simpleTask, workflow } from '@io-orkes/conductor-javascript'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'

export const count = defineWorkspaceTask({
  name: 'letters.count',
  owner: 'data@example.org',
  params: z.object({ file: z.string() }),
  result: z.object({ lines: z.int() }),
  workspace: {},
  body: async ({ workspace, params: { file } }) => {
    const text = await readFile(workspace.path(file), 'utf8')
    const lines = text.trimEnd().split('\n').length
    await writeFile(workspace.path('lines.txt'), `${lines}\n`)
    return { lines }
  },
})

export const letters = workflow('letters', [
  simpleTask('count', 'letters.count', {
    workspace: '${workflow.input.workspace}',
    params: { file: '${workflow.input.file}' },
  }),
  simpleTask('tell', 'letters.tell', { lines: '${count.output.result.lines}' }),
])
