import { afterEach, expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'

const slept: number[] = []
const clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs: number) => {
    slept.push(durationMs)
    return Promise.resolve()
  },
}
const lakefs = useEmbeddedLakefs({ clock })

afterEach(() => {
  lakefs.server.faults.clear()
})

test('ES-83 a connection lost before the effect leaves no trace', async () => {
  const api = await lakefs.open()
  const { faults } = lakefs.server
  faults.clearHistory()
  faults.add({ operation: 'createBranch', times: 1, fault: { kind: 'lose-before' } })
  await expect(api.branch('b', 'main')).rejects.toThrow(/socket hang up|ECONNRESET/)
  expect((await api.send('GET', '~/branches/b')).status).toBe(404)
  await api.branch('b', 'main')
  expect(faults.history.map(({ operation, status }) => [operation, status])).toEqual([
    ['createBranch', 0],
    ['getBranch', 404],
    ['createBranch', 201],
  ])
  expect(faults.history[0]?.fault).toEqual({ kind: 'lose-before' })
})

test('ES-84 a connection lost after the effect: done, and nobody was told', async () => {
  const api = await lakefs.open()
  lakefs.server.faults.add({ operation: 'uploadObject', times: 1, fault: { kind: 'lose-after' } })
  await expect(api.put('main', 'a', 'done')).rejects.toThrow(/socket hang up|ECONNRESET/)
  expect((await api.get('main', 'a')).text).toBe('done')
})

test('ES-85 answers of a server under pressure, without any effect', async () => {
  const api = await lakefs.open()
  const { faults } = lakefs.server
  faults.add({ operation: 'commit', times: 1, fault: { kind: 'answer', status: 429, retryAfterSeconds: 7 } })
  faults.add({ operation: 'commit', times: 1, fault: { kind: 'answer', status: 500 } })
  faults.add({ operation: 'commit', times: 1, fault: { kind: 'answer', status: 503, message: 'mine' } })
  await api.put('main', 'a')
  const commit = () => api.send('POST', '~/branches/main/commits', { json: { message: 'm' } })
  const limited = await commit()
  expect(limited.status).toBe(429)
  expect(limited.headers['retry-after']).toBe('7')
  expect(await commit()).toMatchObject({
    status: 500,
    json: { message: expect.stringContaining('predicate failed') as string },
  })
  expect(await commit()).toMatchObject({ status: 503, json: { message: 'mine' } })
  expect((await commit()).status).toBe(201)
})

test('ES-86 a download cut half-way, and one with a wrong byte', async () => {
  const api = await lakefs.open()
  const { faults } = lakefs.server
  await api.put('main', 'a', '0123456789')
  faults.add({ operation: 'getObject', times: 1, fault: { kind: 'corrupt-body', byte: 3 } })
  const wrong = await api.get('main', 'a')
  expect(wrong.status).toBe(200)
  expect([...wrong.bytes].filter((byte, index) => byte !== 0x30 + index)).toEqual([0x33 ^ 0xff])

  faults.add({ operation: 'getObject', times: 1, fault: { kind: 'cut-body', share: 0.5 } })
  const headers = {
    authorization: `Basic ${btoa(`${lakefs.server.accessKeyId}:${lakefs.server.secretAccessKey}`)}`,
  }
  const cut = await fetch(`${api.url}/api/v1/repositories/${api.repository}/refs/main/objects?path=a`, {
    headers,
  })
  const received: number[] = []
  await expect(
    (async () => {
      for await (const chunk of cut.body ?? []) received.push(...(chunk as Uint8Array))
    })(),
  ).rejects.toThrow()
  expect(Buffer.from(received).toString()).toBe('01234')
  expect((await api.get('main', 'a')).text).toBe('0123456789')
})

test('ES-87 a delay lets the request go on when it is over', async () => {
  const api = await lakefs.open()
  lakefs.server.faults.add({ operation: 'getBranch', fault: { kind: 'delay', delayMs: 1234 } })
  slept.length = 0
  await api.need(200, 'GET', '~/branches/main')
  expect(slept).toEqual([1234])
})

test('ES-82 the history tells what was asked and what was answered', async () => {
  const api = await lakefs.open()
  const { faults } = lakefs.server
  faults.clearHistory()
  await api.get('main', 'none')
  await api.send('GET', '/nowhere')
  expect(faults.history).toEqual([
    {
      operation: 'getObject',
      method: 'GET',
      path: `/api/v1/repositories/${api.repository}/refs/main/objects?path=none`,
      status: 404,
    },
    { operation: 'unknown', method: 'GET', path: '/api/v1/nowhere', status: 404 },
  ])
})
