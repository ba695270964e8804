// The signature of deliveries, checked with the library that receivers use.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sendDelivery } from './send-delivery.ts'

const DELIVERY = { id: 'wh_1-evt_1', eventType: 'a.completed', body: '{"text":"größer"}' }
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let url: string
let close: () => Promise<unknown>
let received: { readonly headers: Record<string, string>; readonly body: string }[]
beforeEach(async () => {
  received = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: plain(request.headers), body: Buffer.concat(chunks).toString() })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  close = () => new Promise((resolve) => server.close(resolve))
})
afterEach(() => close())

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

async function send(secret: string, now = new Date()) {
  const problem = await sendDelivery({ url, secret }, DELIVERY, {
    allowPrivate: true,
    resolve: () => Promise.reject(new Error('no name is looked up here')),
    signal: new AbortController().signal,
    now,
  })
  expect(problem).toBeUndefined()
  return received.at(-1)!
}

test('WH-60 a delivery is verified by the library of Standard Webhooks, and only as it was sent', async () => {
  const { headers, body } = await send(SECRET)
  const webhook = new Webhook(SECRET)
  expect(headers['webhook-id']).toBe(DELIVERY.id)
  expect(webhook.verify(body, headers)).toEqual({ text: 'größer' })

  expect(() => webhook.verify(`${body} `, headers)).toThrow('No matching signature')
  for (const changed of [
    { 'webhook-id': 'wh_1-evt_2' },
    { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
    { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` },
  ])
    expect(() => webhook.verify(body, { ...headers, ...changed })).toThrow('No matching signature')
  const other = new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)
  expect(() => other.verify(body, headers)).toThrow('No matching signature')
})

test('WH-61 each try is signed with its own time: one of more than five minutes ago is refused', async () => {
  const old = await send(SECRET, new Date(Date.now() - 301_000))
  expect(() => new Webhook(SECRET).verify(old.body, old.headers)).toThrow('too old')
  const again = await send(SECRET)
  expect(again.headers['webhook-id']).toBe(old.headers['webhook-id'])
  expect(new Webhook(SECRET).verify(again.body, again.headers)).toEqual({ text: 'größer' })
})

test('WH-62 a secret from before the prefix stays a key as it stands', async () => {
  const secret = Buffer.alloc(32, 250).toString('base64url')
  const { headers, body } = await send(secret)
  expect(new Webhook(secret, { format: 'raw' }).verify(body, headers)).toEqual({ text: 'größer' })
})
