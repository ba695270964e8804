import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { openConductorClient, parseEndpoint, type ExchangeNotice } from './client.ts'

test.each([
  ['http://localhost:8080', 'http://localhost:8080', ''],
  ['http://localhost:8080/api', 'http://localhost:8080', ''],
  ['http://localhost:8080/api/', 'http://localhost:8080', ''],
  ['https://example.org/conductor/api', 'https://example.org', '/conductor'],
  ['https://example.org/conductor/', 'https://example.org', '/conductor'],
])('CO-76 %s is %s with the prefix "%s"', (text, origin, prefix) => {
  expect(parseEndpoint(text)).toEqual({ origin, prefix })
})

test.each([
  'localhost:8080',
  'ftp://example.org',
  '',
  'http://me:hidden@example.org/api',
  'http://example.org/api?x=hidden',
])('CO-76 %s is refused without being quoted', (text) => {
  let thrown: unknown
  try {
    parseEndpoint(text)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ kind: 'invalid', code: 'conductor/bad-endpoint' })
  expect(String(thrown)).not.toContain('hidden')
})

test('metrics get the time until a response ended, and no status of one that did not end', async () => {
  let nowMs = 0
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"name":')
    setTimeout(() => {
      nowMs += 250
      if (request.url?.endsWith('whole') === true) response.end('"whole"}')
      else response.destroy()
    }, 30)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const notices: ExchangeNotice[] = []
  const client = openConductorClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    retry: { maxAttempts: 1 },
    onExchange: (notice) => notices.push(notice),
  })
  onTestFinished(async () => {
    await client.close()
    server.close()
  })
  await client.call({ operation: 'getTaskDef', path: { name: 'whole' } })
  const cut = client.call({ operation: 'getTaskDef', path: { name: 'cut' } })
  await expect(cut).rejects.toMatchObject({ code: 'conductor/answer-lost' })
  expect(notices).toEqual([
    { operation: 'getTaskDef', status: 200, durationMs: 250 },
    { operation: 'getTaskDef', status: undefined, durationMs: 250 },
  ])
})
