import { defineTask } from 'perago'
import { definePipeline } from 'perago/engine'
import { z } from 'zod'

const owner = 'data@example.org'

export const load = defineTask({
  name: 'report.load',
  owner,
  params: z.object({ day: z.iso.date() }),
  result: z.object({ sales: z.array(z.number()) }),
  // Asks the warehouse, which no test has.
  body: async ({ params: { day } }) => {
    const answer = await fetch(`https://warehouse.example.org/sales/${day}`)
    return { sales: z.array(z.number()).parse(await answer.json()) }
  },
})

export const add = defineTask({
  name: 'report.add',
  owner,
  params: z.object({ sales: z.array(z.number()) }),
  result: z.object({ total: z.number() }),
  body: ({ params: { sales } }) => ({ total: sales.reduce((sum, sale) => sum + sale, 0) }),
})

export const send = defineTask({
  name: 'report.send',
  owner,
  params: z.object({ total: z.number() }),
  result: z.object({ sent: z.boolean() }),
  body: () => ({ sent: true }),
})

export const report = definePipeline(
  { name: 'report', input: z.object({ day: z.iso.date() }) },
  (pipeline) => {
    const loaded = pipeline.task('load', load, {
      params: { day: pipeline.input.day },
      retry: { times: 3, delay: '1h', backoff: 'fixed', jitter: '0s' },
    })
    const added = pipeline.task('add', add, { params: { sales: loaded.result.sales } })
    const weekend = pipeline.wait('weekend', { for: '3d', after: [added] })
    const sent = pipeline.task('send', send, { params: { total: added.result.total }, after: [weekend] })
    return { total: added.result.total, sent: sent.result.sent }
  },
)
