/** The orders of one day as a pipeline: each unit gets the commit that the unit before it published. */

import { definePipeline, workspaceInput } from 'perago/engine'
import { z } from 'zod'
import { aggregate, ingest, validate } from './tasks.ts'

export const daily = definePipeline(
  {
    name: 'orders.daily',
    description: 'From the export of one day to its revenue.',
    owner: 'data@example.org',
    input: z.object({ workspace: workspaceInput, day: z.iso.date() }),
  },
  (pipeline) => {
    const { workspace, day } = pipeline.input
    const params = { day }
    const ingested = pipeline.task('ingest', ingest, { workspace, params, phase: 'load' })
    const checked = pipeline.task('validate', validate, {
      workspace: ingested.workspace,
      params,
      phase: 'check',
    })
    const summed = pipeline.task('aggregate', aggregate, {
      workspace: checked.workspace,
      params,
      phase: 'report',
    })
    return { workspace: summed.workspace, summary: summed.result, rejected: checked.result.rejected }
  },
)
