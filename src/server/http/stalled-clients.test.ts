// Clients on real sockets that stop reading: what the server holds for them, and when it lets them go.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { serveWorld, type ServedOptions, type ServedWorld } from '../../../test/support/doors/serve.ts'
import type { Execution } from '../../core/life-cycle/execution.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { FOLLOW_PIECE_MAX_BYTES } from '../limits.ts'
import { listenHttp } from './listen-http.ts'

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(options: ServedOptions = {}): Promise<ServedWorld> {
  const served = await serveWorld(options)
  closing.push(() => served.close())
  return served
}

/** The responses that this process begins, by the path of their requests. */
function watchResponses(): (path: string) => readonly ServerResponse[] {
  const begun: ServerResponse[] = []
  const note = (message: unknown): void => {
    begun.push((message as { response: ServerResponse }).response)
  }
  subscribe('http.server.request.start', note)
  onTestFinished(() => {
    unsubscribe('http.server.request.start', note)
  })
  return (path) => begun.filter(({ req }) => req.url === path)
}

/** A client that reads nothing until it is resumed. */
function dial({ door, token }: Pick<ServedWorld, 'door' | 'token'>, path: string, headers = ''): Socket {
  const { port } = new URL(door.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n${headers}\r\n`)
  closing.push(() => {
    socket.destroy()
  })
  return socket
}

/** The ids of the whole blocks that it is sent, until its connection is closed or the execution has ended. */
async function readIds(socket: Socket): Promise<readonly number[]> {
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => {
    parts.push(part)
    if (part.includes('event: end')) socket.destroy()
  })
  await new Promise((resolve) => socket.on('close', resolve))
  const text = Buffer.concat(parts).toString('latin1')
  const body = withoutChunks(text.slice(text.indexOf('\r\n\r\n') + 4))
  const blocks = body.split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => /^id: (\d+)/.exec(block)?.[1] ?? []).map(Number)
}

function withoutChunks(text: string): string {
  let body = ''
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n', at)
    const size = parseInt(text.slice(at, end), 16)
    if (end === -1 || !(size > 0)) break
    body += text.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
  return body
}

const LARGE = 250_000
/** More than what the sockets of this machine take in. */
const MANY = 80

async function publishMany(execution: Execution, count = MANY): Promise<void> {
  const source = { entityType: 'external', entityId: 'a' } as const
  for (let at = 0; at < count; at++) {
    await execution.events.publish({
      type: 'external.a.b',
      source,
      payload: { text: 'x'.repeat(LARGE) },
    })
  }
}

const PATH = '/executions/exec_1/follow'
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

test.each([
  ['from the beginning of a long log', 0],
  ['from its end, while more is recorded', 1],
])('DO-61 followers that do not read hold a few pieces each, %s', async (_, after) => {
  const served = await serve()
  const execution = await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  const responsesTo = watchResponses()
  if (after === 0) await publishMany(execution)
  const stalled = `${PATH}?after=${after}`
  for (let count = 0; count < 4; count++) dial(served, stalled)
  const reading = readIds(dial(served, PATH).resume())
  await expect.poll(() => responsesTo(stalled).filter(({ headersSent }) => headersSent).length).toBe(4)
  if (after === 1) await publishMany(execution)
  await execution.finish({ status: 'completed' })
  // The one that reads has everything, and the others have stopped at what their sockets took.
  expect(await reading).toEqual(numbers(1, MANY + 2))
  await expect.poll(() => responsesTo(stalled).every((response) => response.writableNeedDrain)).toBe(true)
  for (const response of responsesTo(stalled)) {
    expect(response.writableLength).toBeGreaterThan(0)
    expect(response.writableLength).toBeLessThanOrEqual(2 * FOLLOW_PIECE_MAX_BYTES + 100)
  }
})

test('DO-62 a follower that takes nothing is cut, and misses nothing when it comes back with its last id', async () => {
  const served = await serve({ timeouts: { stalledMs: 200 } })
  const execution = await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  const responsesTo = watchResponses()
  const stalled = dial(served, `${PATH}?after=0`)
  const reading = readIds(dial(served, PATH).resume())
  await publishMany(execution)
  await expect
    .poll(() => responsesTo(`${PATH}?after=0`).map(({ closed }) => closed), { timeout: 5_000 })
    .toEqual([true])
  const first = await readIds(stalled.resume())
  expect(first.length).toBeLessThan(MANY)
  const back = readIds(dial(served, PATH, `last-event-id: ${first.at(-1) ?? 0}\r\n`).resume())
  await execution.finish({ status: 'completed' })
  expect([...first, ...(await back)]).toEqual(numbers(1, MANY + 2))
  expect(await reading).toEqual(numbers(1, MANY + 2))
})

test('DO-62 a silent stream and a request that waits for us are not cut; a stream that stalls later is', async () => {
  let release: (() => void) | undefined
  const served = await serve({
    timeouts: { stalledMs: 50 },
    host: { examine: () => new Promise((resolve) => (release = () => resolve([]))) },
  })
  const execution = await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  const responsesTo = watchResponses()
  const waiting = fetch(`${served.door.url}/healthz`)
  const socket = dial(served, PATH)
  await expect.poll(() => responsesTo(PATH).filter(({ headersSent }) => headersSent).length).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(responsesTo(PATH).map(({ closed }) => closed)).toEqual([false])
  release!()
  expect((await waiting).status).toBe(200)
  await publishMany(execution)
  await expect.poll(() => responsesTo(PATH).map(({ closed }) => closed), { timeout: 5_000 }).toEqual([true])
  expect((await readIds(socket.resume())).length).toBeLessThan(MANY)
})

test('DO-62 a client that reads nothing of any other large answer is cut as well', async () => {
  const responsesTo = watchResponses()
  const door = await listenHttp({
    fetch: () => new Response(Buffer.alloc(100_000_000)),
    address: '127.0.0.1',
    port: 0,
    redactor: plainRedactor,
    timeouts: { stalledMs: 200 },
  })
  closing.push(() => door.close())
  const socket = dial({ door, token: 'none' }, '/large')
  await expect
    .poll(() => responsesTo('/large').map(({ closed }) => closed), { timeout: 10_000 })
    .toEqual([true])
  let bytes = 0
  socket.on('data', (part: Buffer) => (bytes += part.byteLength)).resume()
  await new Promise((resolve) => socket.on('close', resolve))
  expect(bytes).toBeLessThan(100_000_000)
})
