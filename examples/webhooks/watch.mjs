// Feeds monitoring: counts events for Prometheus, and writes a line for each failure.
import { appendFile } from 'node:fs/promises'
import { receive } from './receive.mjs'

const counts = new Map()

receive({
  port: 9083,
  webhook: 'watch.webhook',
  onEvent: async ({ event_type, execution_id, timestamp }) => {
    counts.set(event_type, (counts.get(event_type) ?? 0) + 1)
    if (!event_type.endsWith('.failed')) return
    await appendFile('alerts.log', `${timestamp} ${execution_id} ${event_type}\n`)
  },
  onGet: (_, response) => {
    const lines = [...counts].map(([type, count]) => `perago_events_total{type="${type}"} ${count}\n`)
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
    response.end(`# TYPE perago_events_total counter\n${lines.join('')}`)
  },
})
