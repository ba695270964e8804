import { readFile, writeFile } from 'node:fs/promises'
import { defineCommandTask, defineWorkspaceTask, requireFile, TerminalError } from 'perago'
import { z } from 'zod'

export const clean = defineWorkspaceTask({
  name: 'orders.clean',
  owner: 'data@example.org',
  params: z.object({ currency: z.string().default('EUR') }),
  result: z.object({ rows: z.int() }),
  workspace: {
    prefix: 'orders',
    pre: [requireFile('raw.csv')],
    post: [requireFile('clean.csv', { minBytes: 1 })],
  },
  body: async ({ workspace, params, log }) => {
    const [header, ...rows] = (await readFile(workspace.path('raw.csv'), 'utf8')).trim().split('\n')
    if (header === undefined || !header.includes('currency')) {
      throw new TerminalError('raw.csv has no column "currency"')
    }
    const kept = rows.filter((row) => row.endsWith(params.currency))
    log.info(`kept ${kept.length} of ${rows.length} rows`)
    await writeFile(workspace.path('clean.csv'), [header, ...kept, ''].join('\n'))
    return { rows: kept.length }
  },
})

export const count = defineCommandTask({
  name: 'orders.count',
  owner: 'data@example.org',
  params: z.object({}),
  result: z.object({ lines: z.int() }),
  workspace: { prefix: 'orders', readOnly: true },
  command: ['sh', '-c', `printf '{"lines": %d}' "$(wc -l < clean.csv)"`],
  resultFrom: 'stdout',
})
