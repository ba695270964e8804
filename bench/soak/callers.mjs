// Callers that do nothing wrong: each posts an event, reads what it has posted, and waits.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

const PAUSE_MS = 900
const AWAY_MS = 200

export function openCallers(server, { callers }) {
  const acknowledged = []
  let samples
  let hasEnded = false
  let refused = 0

  const timed = async (tenant, send) => {
    const into = samples
    const startMs = performance.now()
    const response = await send()
    const body = await response.json()
    // Begun and answered in one stretch that is measured.
    if (into !== undefined && into === samples) {
      if (!into.has(tenant)) into.set(tenant, [])
      into.get(tenant).push(performance.now() - startMs)
    }
    return { response, body }
  }

  const call = async ({ tenant, execution, token }) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await wait(Math.random() * PAUSE_MS)
    while (!hasEnded) {
      try {
        const type = `external.good.note`
        const event = JSON.stringify({
          execution_id: execution,
          event_type: type,
          payload: { at: Date.now() },
        })
        const posting = {
          method: 'POST',
          headers: { ...headers, 'idempotency-key': randomUUID() },
          body: event,
        }
        const posted = await timed(tenant, () => fetch(`${server.url}/events`, posting))
        if (posted.response.status === 201)
          acknowledged.push({ tenant, execution, id: posted.body.id ?? posted.body.event_id })
        else refused += posted.response.status === 429 ? 1 : 0
        await timed(tenant, () => fetch(`${server.url}/executions/${execution}/events/${type}`, { headers }))
        await wait(PAUSE_MS * (0.5 + Math.random()))
      } catch {
        // The server is away, as it is meant to be now and then.
        await wait(AWAY_MS)
      }
    }
  }
  const running = callers.map(call)
  return {
    acknowledged,
    get refused() {
      return refused
    },
    /** What is begun from now on; `undefined`: not measured. */
    measureInto(into) {
      samples = into
    },
    async end() {
      hasEnded = true
      await Promise.all(running)
    },
  }
}
