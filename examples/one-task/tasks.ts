import { appendFile, readFile } from 'node:fs/promises'
import { defineWorkspaceTask, maxBytes, requireFile } from 'perago'
import { z } from 'zod'

export const measure = defineWorkspaceTask({
  name: 'weather.measure',
  owner: 'data@example.org',
  params: z.object({ city: z.string().min(1), celsius: z.number() }),
  result: z.object({ rows: z.int() }),
  workspace: { post: [requireFile('today.csv'), maxBytes(1_000_000)] },
  body: async ({ workspace, params: { city, celsius } }) => {
    const file = workspace.path('today.csv')
    await appendFile(file, `${city},${celsius}\n`)
    return { rows: (await readFile(file, 'utf8')).trim().split('\n').length }
  },
})
