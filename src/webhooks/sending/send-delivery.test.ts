import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { findAddresses } from './check-address.ts'
import { sendDelivery } from './send-delivery.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const { signal } = new AbortController()
/** For addresses that are given as such. */
const noNames = () => Promise.reject(new Error('no name is looked up here'))

/** A name that leads to one address. */
function findPublic(address: string) {
  const resolve = () => Promise.resolve([{ address, family: 4 }])
  return findAddresses(new URL('http://a.example/'), { allowPrivate: false, resolve, signal })
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

test.each(
  ['192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '::8.8.8.8', '::127.0.0.1', '::a00:1', '::2']
    .concat(['::ffff:0:8.8.8.8', '::ffff:169.254.169.254', '64:ff9b::10.0.0.1', '64:ff9b:1::808:808'])
    .concat(['2002:808:808::', '2001:0:808:808::1', '2001:db8::1', '3fff::1', '100::1', '5f00::1', '4000::1'])
    .concat(['fe80::1%lo', '2606:4700::1%lo']),
)('E-133 %s is refused: no public receiver has it', async (address) => {
  await expect(findPublic(address)).rejects.toMatchObject({ code: 'server/private-address' })
})

test('E-133 an address of this machine is refused, be it public, and in every spelling', async () => {
  const spy = vi.spyOn(os, 'networkInterfaces').mockReturnValue({
    lo: [
      {
        address: '93.184.216.34',
        netmask: '255.255.255.255',
        family: 'IPv4',
        internal: true,
        mac: '',
        cidr: null,
      },
      {
        address: '2606:2800:220:1::1',
        netmask: '',
        family: 'IPv6',
        internal: false,
        mac: '',
        cidr: null,
        scopeid: 0,
      },
    ],
  })
  syncBuiltinESMExports()
  closing.push(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
    return Promise.resolve()
  })
  const own = ['93.184.216.34', '::ffff:93.184.216.34', '::ffff:5db8:d822', '64:ff9b::5db8:d822']
  for (const address of [...own, '2606:2800:220:1::1', '2606:2800:0220:0001:0:0:0:1'])
    await expect(findPublic(address)).rejects.toMatchObject({ code: 'server/private-address' })
  for (const address of ['93.184.216.35', '64:ff9b::5db8:d823', '2606:2800:220:1::2'])
    await expect(findPublic(address)).resolves.toMatchObject([{ address }])
})

test.each(
  ['8.8.8.8', '172.15.0.1', '172.32.0.1', '193.0.0.1', '2606:4700::1111', '::ffff:8.8.8.8'].concat([
    '64:ff9b::808:808',
  ]),
)('DO-27 %s is outside', async (address) => {
  await expect(findPublic(address)).resolves.toMatchObject([{ address }])
})

test('E-134 the addresses that were checked are those that are called, whatever the name leads to later', async () => {
  const called: (string | undefined)[] = []
  const server = createServer((request, response) => {
    called.push(request.socket.localAddress)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  let asked = 0
  const resolve = () => {
    asked += 1
    // Nobody accepts connections at the first of them.
    const addresses = asked === 1 ? ['127.0.0.9', '127.0.0.1'] : ['127.0.0.2']
    return Promise.resolve(addresses.map((address) => ({ address, family: 4 })))
  }
  const options = { allowPrivate: true, signal, now: new Date(0), resolve }
  const url = `http://localhost:${port}/`
  await expect(sendDelivery({ url, secret: 's' }, DELIVERY, options)).resolves.toBeUndefined()
  expect([asked, called]).toEqual([1, ['127.0.0.1']])
})

test('E-130 a name that nobody resolves is left when its time is over, and at once when the server closes', async () => {
  const resolve = () => new Promise<never>(() => undefined)
  const options = { allowPrivate: true, now: new Date(0), resolve }
  const receiver = { url: 'http://silent.example/', secret: 's' }
  await expect(sendDelivery(receiver, DELIVERY, { ...options, signal, timeoutMs: 50 })).resolves.toBe(
    'it did not answer within 50 ms',
  )
  const server = new AbortController()
  const sending = sendDelivery(receiver, DELIVERY, { ...options, signal: server.signal })
  server.abort()
  await expect(sending).resolves.toContain('aborted')
})

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
    resolve: noNames,
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
  const options = { allowPrivate: true, signal, now: new Date(0), timeoutMs: 50, resolve: noNames }
  for (const path of ['/', '/broken', '/silent']) {
    await sendDelivery({ url: `http://127.0.0.1:${port}${path}`, secret: 's' }, DELIVERY, options)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  }
  expect(whileRunning).toEqual([1, 1, 1])
})

test('DO-27 a name without an address is a problem like any other', async () => {
  const resolve = () => Promise.resolve([])
  const finding = findAddresses(new URL('http://a.example/'), { allowPrivate: false, resolve, signal })
  await expect(finding).rejects.toThrow('no address')
})
