// Goal: instances of `perago serve` over one server's store are one server to their callers, whichever of them is killed; and
// an archive that is stopped costs nothing but the reading of what has left for it. The command as it is shipped.
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openCore } from '../../src/core/life-cycle/core.ts'
import type { Store } from '../../src/core/ports.ts'
import { openStoreAt } from '../../src/runtime/stores/store-address.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { openPostgresArchive } from '../../src/stores/archive/postgres-archive.ts'
import { openProject, type Project, type Started } from '../support/cli/command.ts'
import { externalEvent, nodeEvent } from '../support/core-world.ts'
import { openKillable } from '../support/servers/killable.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'

const ADDRESS = {
  postgres: (url: string) => `${url}${url.includes('?') ? '&' : '?'}schema=${freshName()}`,
  redis: (url: string) => `${url}?prefix=${encodeURIComponent(`{${freshName()}}:`)}`,
  etcd: (url: string) => `${url.replace(/^http:/, 'etcd:')}?prefix=${freshName()}/`,
} as const

interface Instance extends Started {
  readonly url: string
}

async function openWorld(address: string) {
  const project = await openProject()
  onTestFinished(() => project.close())
  const store = await openStoreAt(address, { environment: {}, directory: project.directory })
  onTestFinished(() => store.close())
  const environment = { PERAGO_STORE_ADDRESS: address }
  const created = await project.run(['token', 'create', '--name', 't', '--role', 'operator'], environment)
  expect([created.code, created.stderr]).toEqual([0, expect.stringContaining('shown this once')])
  const headers = {
    authorization: `Bearer ${created.stdout.trim()}`,
    'content-type': 'application/json',
  }
  return {
    project,
    store,
    environment,
    headers,
    serve: (...args: readonly string[]) => serve(project, args, environment),
    post: async ({ url }: Instance, type: string, key?: string): Promise<string> => {
      const answer = await fetch(`${url}/events`, {
        method: 'POST',
        headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
        body: JSON.stringify({ execution_id: 'exec_1', event_type: type, payload: { type } }),
      })
      expect(answer.status).toBe(201)
      return ((await answer.json()) as { event_id: string }).event_id
    },
    read: async ({ url }: Instance): Promise<readonly { id: string; type: string; sequence: number }[]> => {
      const answer = await fetch(`${url}/executions/exec_1/events?limit=1000`, { headers })
      expect(answer.status).toBe(200)
      return ((await answer.json()) as { events: { id: string; type: string; sequence: number }[] }).events
    },
    follow: ({ url }: Instance) => follow(`${url}/executions/exec_1/follow`, headers),
  }
}

async function serve(
  project: Project,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Instance> {
  const started = project.start(['serve', '--port', '0', ...args], environment)
  return { ...started, url: (await started.firstLine).replace('ready ', '') }
}

/** The types of what a follower is sent, as they come. */
async function follow(url: string, headers: Readonly<Record<string, string>>) {
  const ending = new AbortController()
  const response = await fetch(url, { headers, signal: ending.signal })
  expect(response.status).toBe(200)
  const types: string[] = []
  const reading = (async () => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString()
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, data] = /^data: (\{.+\})$/m.exec(part) ?? []
        if (data !== undefined && !part.includes('event: end'))
          types.push((JSON.parse(data) as { type: string }).type)
      }
    }
  })().catch(() => undefined)
  return {
    types,
    end: async () => {
      ending.abort()
      await reading
    },
  }
}

async function kill(instance: Started): Promise<void> {
  instance.child.kill('SIGKILL')
  await instance.ended
}

describe.each(['postgres', 'redis', 'etcd'] as const)('perago serve on %s', (kind) => {
  const server = useRealServer(kind)

  test('DO-43 what is posted to one instance is read and followed at the other, and killing one loses nothing', async (context) => {
    const world = await openWorld(ADDRESS[kind](server(context).url))
    const core = openCore({ store: world.store })
    const execution = await core.startExecution({ id: 'exec_1', name: 'etl', inputs: { day: '2025-01-01' } })
    const [first, second] = await Promise.all([world.serve(), world.serve()])
    const followed = await world.follow(second)
    const id = await world.post(first, 'external.a.one', 'key-1')
    // The same request again, to the other one, as a caller does who got no answer.
    expect(await world.post(second, 'external.a.one', 'key-1')).toBe(id)
    expect((await world.read(second)).map(({ type }) => type)).toEqual(['pipeline.started', 'external.a.one'])
    await expect
      .poll(() => followed.types, { timeout: 20_000 })
      .toEqual(['pipeline.started', 'external.a.one'])
    const variable = await fetch(`${second.url}/executions/exec_1/variables/pipeline.input.day`, {
      headers: world.headers,
    })
    expect(await variable.json()).toMatchObject({ value: '2025-01-01' })

    const acknowledged: string[] = []
    const posting = Promise.allSettled(
      Array.from({ length: 60 }, async (_, n) => {
        acknowledged.push(await world.post(first, `external.burst.n${String(n)}`))
        if (acknowledged.length === 20) first.child.kill('SIGKILL')
      }),
    )
    await posting
    await first.ended
    expect(acknowledged.length).toBeGreaterThanOrEqual(20)
    await world.post(second, 'external.a.two')
    const again = await world.serve()
    const log = await world.read(again)
    expect(log).toEqual(await world.read(second))
    expect(acknowledged.filter((one) => !log.some((event) => event.id === one))).toEqual([])
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
    await execution.finish({ status: 'completed' })
    await expect
      .poll(() => followed.types, { timeout: 20_000 })
      .toEqual([...log.map(({ type }) => type), 'pipeline.completed'])
    await followed.end()
    const shown = await world.project.run(
      ['events', 'exec_1', '--json', '--limit', '1000'],
      world.environment,
    )
    expect((JSON.parse(shown.stdout) as { events: unknown[] }).events).toHaveLength(log.length + 1)
    for (const instance of [second, again]) instance.child.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0, stderr: '' })
    expect(await again.ended).toMatchObject({ code: 0, stderr: '' })
  }, 120_000)
})

async function logsOf(store: Store): Promise<readonly string[]> {
  const { entries } = await store.range({ prefix: 'log:', limit: 1000 })
  return [...new Set(entries.map(({ key }) => key.split(':')[1] ?? ''))].toSorted()
}

test('DO-44 nothing is lost while the archive is stopped, and it is caught up with when it is back', async (context) => {
  const archiveServer = await openKillable('postgres', context)
  onTestFinished(() => archiveServer.close())
  const project = await openProject()
  onTestFinished(() => project.close())
  const store = openSqliteStore({ file: join(project.directory, 'store.db') })
  onTestFinished(() => store.close())
  const core = openCore({ store, outbox: true })
  const endOne = async (id: string): Promise<unknown> => {
    const execution = await core.startExecution({ id, name: 'etl' })
    for (let n = 0; n < 5; n += 1) await execution.events.publish(nodeEvent('a.task.running', { n }))
    await execution.finish({ status: 'completed', outputs: { id } })
    return (await execution.events.query()).map(({ sequence, type, payload }) => ({
      sequence,
      type,
      payload,
    }))
  }
  const running = await core.startExecution({ id: 'exec_running', name: 'etl' })
  const histories: Record<string, unknown> = { exec_1: await endOne('exec_1') }
  const environment = { PERAGO_ARCHIVE_ADDRESS: archiveServer.url }
  const server = await serve(
    project,
    ['--store', 'store.db', '--open-loopback', 'operator', '--log-level', 'warn'],
    environment,
  )
  const read = (id: string): Promise<Response> => fetch(`${server.url}/executions/${id}/events`)
  const readHistory = async (id: string): Promise<unknown> =>
    (
      (await (await read(id)).json()) as { events: { sequence: number; type: string; payload: unknown }[] }
    ).events.map(({ sequence, type, payload }) => ({ sequence, type, payload }))
  await expect.poll(() => logsOf(store), { timeout: 60_000 }).toEqual(['exec_running'])
  expect(await readHistory('exec_1')).toEqual(histories['exec_1'])

  await archiveServer.kill()
  for (const id of ['exec_2', 'exec_3']) histories[id] = await endOne(id)
  await running.events.publish(externalEvent('external.meanwhile'))
  await expect
    .poll(() => server.stderr(), { timeout: 60_000 })
    .toContain('an execution could not be archived')
  expect(await logsOf(store)).toEqual(['exec_2', 'exec_3', 'exec_running'])
  expect(await readHistory('exec_2')).toEqual(histories['exec_2'])
  expect((await read('exec_1')).status).toBe(503)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

  // The archiving instance is killed too; the next one continues, and the archive comes back while it runs.
  await kill(server)
  const next = await serve(project, ['--store', 'store.db', '--open-loopback', 'operator'], environment)
  expect(await logsOf(store)).toEqual(['exec_2', 'exec_3', 'exec_running'])
  await archiveServer.start()
  await expect.poll(() => logsOf(store), { timeout: 90_000 }).toEqual(['exec_running'])
  const archive = await openPostgresArchive({ url: archiveServer.url })
  onTestFinished(() => archive.close())
  for (const [id, history] of Object.entries(histories)) {
    const answer = await fetch(`${next.url}/executions/${id}/events`)
    const { events } = (await answer.json()) as {
      events: { sequence: number; type: string; payload: unknown }[]
    }
    expect(events.map(({ sequence, type, payload }) => ({ sequence, type, payload }))).toEqual(history)
    expect(await archive.count({ tenant: '', execution: id })).toBe(events.length)
  }
  expect(await archive.count({ tenant: '', execution: 'exec_running' })).toBe(0)
  next.child.kill('SIGTERM')
  expect((await next.ended).code).toBe(0)
}, 240_000)
