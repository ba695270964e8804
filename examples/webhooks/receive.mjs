// A receiver of webhooks: checks the signature, handles each delivery once, and then responds.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const BODY_MAX_BYTES = 131_072
const REMEMBERED = 10_000

/** `webhook` is the file with the output of `perago webhooks add`: an id and a secret. */
export function receive({ port, webhook, onEvent, onGet = (_, response) => response.writeHead(405).end() }) {
  const [, secret] = readFileSync(webhook, 'utf8').trim().split(' ')
  const signed = new Webhook(secret)
  const taken = new Set()
  const take = async (request, response) => {
    // Throws unless it is signed with our secret, and recent.
    const event = signed.verify(await readBody(request), request.headers)
    const delivery = request.headers['webhook-id']
    // If the response to a handled delivery was lost, it is sent again with the same id.
    if (!taken.has(delivery)) {
      await onEvent(event)
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
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end()
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
