import { readFile, writeFile } from 'node:fs/promises'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'

/** Sends the total to somebody. Whoever gets it twice needs to know that it is the same one. */
export type Send = (message: { readonly id: string; readonly total: number }) => void

export function totalling(send: Send) {
  return defineWorkspaceTask({
    name: 'sales.total',
    owner: 'data@example.org',
    params: z.object({ day: z.iso.date() }),
    result: z.object({ total: z.number() }),
    workspace: { include: ['sales/**', 'totals/**'] },
    body: async ({ workspace, params: { day } }) => {
      const text = await readFile(workspace.path('sales', `${day}.csv`), 'utf8')
      const total = text.split('\n').reduce((sum, line) => sum + Number(line), 0)
      await writeFile(workspace.path('totals', `${day}.txt`), `${total}\n`)
      send({ id: `total-${day}`, total })
      return { total }
    },
  })
}
