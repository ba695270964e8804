// Starts a workflow on Conductor for each execution that has completed.
import { receive } from './receive.mjs'

const { CONDUCTOR_SERVER_URL } = process.env
const WORKFLOW = 'refresh_report'

receive({
  port: 9082,
  webhook: 'start-workflow.webhook',
  onEvent: async ({ execution_id }) => {
    // Finds a workflow that was started just before this receiver stopped, so that it is not started twice.
    const started = await ask(`/workflow/${WORKFLOW}/correlated/${execution_id}?includeClosed=true`)
    if (JSON.parse(started).length > 0) return
    const body = JSON.stringify({ name: WORKFLOW, correlationId: execution_id, input: { execution_id } })
    await ask('/workflow', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  },
})

/** A receiver must respond within ten seconds. After an error the response is 500, and perago tries again. */
async function ask(path, request = {}) {
  const response = await fetch(CONDUCTOR_SERVER_URL + path, {
    ...request,
    signal: AbortSignal.timeout(4_000),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.text()
}
