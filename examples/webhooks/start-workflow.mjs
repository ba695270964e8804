// Starts a workflow on Conductor for each execution that has completed.
import { receive } from './receive.mjs'

const { CONDUCTOR_SERVER_URL } = process.env
const WORKFLOW = 'refresh_report'

receive({
  port: 9082,
  webhook: 'start-workflow.webhook',
  onEvent: async ({ execution_id }) => {
    // One that was started just before this receiver ended is found again, and not started twice.
    const started = await ask(`/workflow/${WORKFLOW}/correlated/${execution_id}?includeClosed=true`)
    if (JSON.parse(started).length > 0) return
    const body = JSON.stringify({ name: WORKFLOW, correlationId: execution_id, input: { execution_id } })
    await ask('/workflow', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  },
})

/** Within the ten seconds in which a receiver is to answer. A failure is answered 500, and so tried again. */
async function ask(path, request = {}) {
  const response = await fetch(CONDUCTOR_SERVER_URL + path, {
    ...request,
    signal: AbortSignal.timeout(4_000),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.text()
}
