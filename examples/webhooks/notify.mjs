// Tells a downstream system that the orders are there: here by a line in a file that it reads.
import { appendFile } from 'node:fs/promises'
import { receive } from './receive.mjs'

receive({
  port: 9081,
  webhook: 'notify.webhook',
  onEvent: async ({ event_type, execution_id }) => {
    await appendFile('downstream.log', `${execution_id} ${event_type}\n`)
  },
})
