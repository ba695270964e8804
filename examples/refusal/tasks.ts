import { existsSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'

/** Works for as long as a file is there, so that its branch can move meanwhile. */
export const survey = defineWorkspaceTask({
  name: 'weather.survey',
  owner: 'data@example.org',
  params: z.object({ city: z.string(), waitWhile: z.string().optional() }),
  result: z.object({ added: z.string() }),
  workspace: {},
  body: async ({ workspace, params: { city, waitWhile }, log, signal }) => {
    log.info(`surveys ${city}`)
    while (waitWhile !== undefined && existsSync(waitWhile)) await wait(100, undefined, { signal })
    await appendFile(workspace.path('survey.csv'), `${city}\n`)
    return { added: city }
  },
})
