// Everything that keeps a server busy, in one process beside the good callers; all of it in the tenant south.
import { connect } from 'node:net'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { URLSearchParams } from 'node:url'

const FOLLOWERS = 200
const SCANNERS = 10
const SLOW_RECEIVERS = 10
const SILENT_NAMES = 12
const NOISE_BYTES = 30_000
const NOISE_PAUSE_MS = 500
const BAD_PAUSE_MS = 50
const AWAY_MS = 1_000

const counts = { followed: 0, cut: 0, scans: 0, refused: 0, noise: 0, delivered: 0 }
const [{ url, records }] = await once(process, 'message')
let hasEnded = false
process.on('message', () => {
  hasEnded = true
  process.send(counts, () => process.exit())
})
process.once('disconnect', () => process.exit())

const bearer = (token) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })
const again = async (work, pauseMs = 0) => {
  while (!hasEnded) {
    try {
      await work()
      if (pauseMs > 0) await wait(pauseMs)
    } catch {
      // Refused, cut, or the server is away.
      await wait(AWAY_MS)
    }
  }
}

const slow = createServer((request) => {
  counts.delivered++
  request.resume()
}).listen(0, '127.0.0.1')
await once(slow, 'listening')
const hooks = [
  ...Array.from({ length: SLOW_RECEIVERS }, (_, index) => `http://127.0.0.1:${slow.address().port}/${index}`),
  ...Array.from({ length: SILENT_NAMES }, (_, index) => `http://silent-${index}.soak.test/hook`),
]
for (const hook of hooks) {
  const body = JSON.stringify({ url: hook, types: ['external.noise.*'] })
  const response = await fetch(`${url}/webhooks`, { method: 'POST', headers: bearer(records.poster), body })
  if (!response.ok) console.log(`the crowd has no webhook: ${response.status} ${await response.text()}`)
  else await response.body?.cancel()
}

for (let number = 0; number < FOLLOWERS; number++)
  void again(number % 2 === 0 ? follow : followWithoutReading)
for (let number = 0; number < SCANNERS; number++) void again(scan)
void again(makeNoise, NOISE_PAUSE_MS)
void again(
  () => fetch(`${url}/executions/long`, { headers: bearer('pgo_wrong_token') }).then(drop),
  BAD_PAUSE_MS,
)
void again(() => fetch(`${url}/executions/long`).then(drop), BAD_PAUSE_MS)
process.send('begun')

async function drop(response) {
  if (response.status === 429) counts.refused++
  await response.body?.cancel()
}

async function follow() {
  const response = await fetch(`${url}/executions/noisy/follow`, { headers: bearer(records.follower) })
  if (!response.ok) {
    await drop(response)
    throw new Error('refused')
  }
  for await (const chunk of response.body) counts.followed += chunk.length
}

async function followWithoutReading() {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  socket.write(
    `GET /executions/noisy/follow HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${records.follower}\r\n\r\n`,
  )
  // A socket that is not read does not hear of its end either, so it is tried by what it may still send.
  while (!hasEnded && socket.writable && !socket.destroyed) {
    await wait(AWAY_MS)
    socket.write('\r\n')
  }
  counts.cut++
  socket.destroy()
}

async function scan() {
  let after
  do {
    const query = new URLSearchParams({ type: 'external.none.such', ...(after !== undefined && { after }) })
    const response = await fetch(`${url}/executions/long/events?${query}`, {
      headers: bearer(records.scanner),
    })
    if (!response.ok) {
      await drop(response)
      throw new Error('refused')
    }
    after = (await response.json()).next_after
  } while (after !== undefined && !hasEnded)
  counts.scans++
}

async function makeNoise() {
  const body = JSON.stringify({
    execution_id: 'noisy',
    event_type: 'external.noise.made',
    payload: { text: 'x'.repeat(NOISE_BYTES) },
  })
  const response = await fetch(`${url}/events`, { method: 'POST', headers: bearer(records.poster), body })
  if (response.status === 201) counts.noise++
  await response.body?.cancel()
}
