import { expect, test } from 'vitest'
import { openProxies } from './client-address.ts'

test.each([
  ['no proxy is trusted', [], '127.0.0.1', '192.0.2.1', '127.0.0.1'],
  ['another than the trusted one speaks', ['10.0.0.1'], '192.0.2.9', '192.0.2.1', '192.0.2.9'],
  ['the trusted one names a client', ['10.0.0.1'], '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['the client had sent the header itself', ['10.0.0.1'], '10.0.0.1', '1.1.1.1, 192.0.2.1', '192.0.2.1'],
  [
    'two trusted ones stand in a row',
    ['10.0.0.0/8'],
    '10.0.0.1',
    '1.1.1.1, 192.0.2.1, 10.2.3.4',
    '192.0.2.1',
  ],
  ['all that are named are trusted', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['there is no header', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
  ['the header is empty', ['10.0.0.1'], '10.0.0.1', ' , ', '10.0.0.1'],
  ['it names no address', ['10.0.0.1'], '10.0.0.1', '192.0.2.1, unknown', '10.0.0.1'],
  ['ports are named', ['10.0.0.1'], '10.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
  ['it is IPv6', ['fd00::/8'], 'fd00::1', '[2001:db8::1]:4711, fd00::2', '2001:db8::1'],
  ['IPv4 is written as IPv6', ['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
  ['several are trusted', ['10.0.0.1', 'fd00::1'], 'fd00::1', '192.0.2.1', '192.0.2.1'],
] as const)('DO-73 where %s the client has the right address', (_, trusted, peer, forwarded, client) => {
  expect(openProxies(trusted).clientOf(peer, forwarded)).toBe(client)
})

test.each([
  '',
  'proxy.example',
  '10.0.0.0/33',
  '10.0.0.0/',
  'fd00::/129',
  '10.0.0.0/8/8',
  '10.0.0.1:80',
  '/8',
])('DO-73 %j is refused as the address of a proxy', (address) => {
  expect(() => openProxies([address])).toThrow(
    expect.objectContaining({ code: 'server/bad-proxy', kind: 'invalid' }),
  )
})
