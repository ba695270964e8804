// A receiver of webhooks: checks the signature, handles each delivery once, and then responds.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const BODY_MAX_BYTES = 131_072
const AGE_MAX_SECONDS = 300
const REMEMBERED = 10_000

/** `webhook` is the file with the output of `perago webhooks add`: an id and a secret. */
export function receive({ port, webhook, onEvent, onGet = (_, response) => response.writeHead(405).end() }) {
  const [, secret] = readFileSync(webhook, 'utf8').trim().split(' ')
  const taken = new Set()
  const take = async (request, response) => {
    const body = await readBody(request)
    if (!isGenuine(request.headers['perago-signature'], body, secret)) return response.writeHead(401).end()
    const delivery = request.headers['perago-delivery']
    // If the response to a handled delivery was lost, it is sent again with the same id.
    if (!taken.has(delivery)) {
      await onEvent(JSON.parse(body))
      taken.add(delivery)
      if (taken.size > REMEMBERED) taken.delete(taken.values().next().value)
    }
    return response.writeHead(204).end()
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return onGet(request, response)
    return take(request, response).catch((error) => {
      console.error(error.message)
      // Without a 2xx response, the delivery is sent again later.
      response.writeHead(500).end()
    })
  })
  server.listen(port, '127.0.0.1', () => console.log(`ready http://127.0.0.1:${port}`))
}

async function readBody(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.byteLength
    if (bytes > BODY_MAX_BYTES) throw new Error('a body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Signed with our secret, and recently: the time is part of what is signed. */
function isGenuine(header, body, secret) {
  const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (signature === undefined || Math.abs(Date.now() / 1_000 - seconds) > AGE_MAX_SECONDS) return false
  const wanted = createHmac('sha256', secret).update(`${seconds}.${body}`).digest()
  return timingSafeEqual(wanted, Buffer.from(signature, 'hex'))
}
