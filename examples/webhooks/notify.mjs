// Notifies a downstream system that the orders are there: here with a line in a file.
import { appendFile } from 'node:fs/promises'
import { receive } from './receive.mjs'

receive({
  port: 9081,
  webhook: 'notify.webhook',
  onEvent: async ({ event_type, execution_id }) => {
    await appendFile('downstream.log', `${execution_id} ${event_type}\n`)
  },
})
