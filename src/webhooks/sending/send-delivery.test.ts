import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { findAddress } from './check-address.ts'
import { sendDelivery } from './send-delivery.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A name that leads to one address. */
function findPublic(address: string) {
  const resolve = () => Promise.resolve([{ address, family: 4 }])
  return findAddress(new URL('http://a.example/'), { allowPrivate: false, resolve })
}

const DELIVERY = { id: 'wh_1-evt_1', eventType: 'a.completed', body: '{}' }

test.each(
  [
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '0.0.0.0',
  ]
    .concat(['100.64.0.1', '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fd00::1', 'ff02::1'])
    .concat(['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', 'not an address']),
)('DO-27 %s is inside', async (address) => {
  await expect(findPublic(address)).rejects.toMatchObject({ code: 'server/private-address' })
})

test.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '193.0.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
  'DO-27 %s is outside',
  async (address) => {
    await expect(findPublic(address)).resolves.toMatchObject({ address })
  },
)

test('DO-27 an address inside is not called, under whatever name, unless that is allowed', async () => {
  let calls = 0
  const server = createServer((_, response) => {
    calls++
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  const call = (host: string, allowPrivate: boolean, addresses = ['127.0.0.1']) =>
    sendDelivery({ url: `http://${host}:${port}/`, secret: 's' }, DELIVERY, {
      allowPrivate,
      signal: new AbortController().signal,
      now: new Date(0),
      resolve: () => Promise.resolve(addresses.map((address) => ({ address, family: 4 }))),
    })
  for (const host of [
    '127.0.0.1',
    'localhost',
    'inside.example',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:7f00:1]',
  ]) {
    await expect(call(host, false)).resolves.toContain('[server/private-address]')
  }
  // One address outside does not open the way to one inside.
  await expect(call('mixed.example', false, ['8.8.8.8', '127.0.0.1'])).resolves.toContain('private')
  expect(calls).toBe(0)
  // The address that was checked is the one that is called: the name exists nowhere else.
  await expect(call('inside.example', true)).resolves.toBeUndefined()
  expect(calls).toBe(1)
})

test('DO-27 a redirect is not followed, and a receiver that does not answer is left', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/redirect') response.writeHead(302, { location: '/inside' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const options = {
    allowPrivate: true,
    signal: new AbortController().signal,
    now: new Date(0),
    timeoutMs: 50,
  }
  const call = (path: string) =>
    sendDelivery({ url: `http://127.0.0.1:${port}${path}`, secret: 's' }, DELIVERY, options)
  await expect(call('/redirect')).resolves.toBe('it answered 302')
  await expect(call('/silent')).resolves.toBe('it did not answer within 50 ms')
  expect(asked).toEqual(['/redirect', '/silent'])
})

test('BA-102 a delivery follows its signal while it runs, and leaves no listener on it', async () => {
  const { signal } = new AbortController()
  const whileRunning: number[] = []
  const server = createServer((request, response) => {
    whileRunning.push(getEventListeners(signal, 'abort').length)
    if (request.url === '/broken') response.destroy()
    else if (request.url !== '/silent') response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const options = { allowPrivate: true, signal, now: new Date(0), timeoutMs: 50 }
  for (const path of ['/', '/broken', '/silent']) {
    await sendDelivery({ url: `http://127.0.0.1:${port}${path}`, secret: 's' }, DELIVERY, options)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  }
  expect(whileRunning).toEqual([1, 1, 1])
})

test('DO-27 a name without an address is a problem like any other', async () => {
  const resolve = () => Promise.resolve([])
  await expect(findAddress(new URL('http://a.example/'), { allowPrivate: false, resolve })).rejects.toThrow(
    'no address',
  )
})
