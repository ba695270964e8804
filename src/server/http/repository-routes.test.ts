// What people see of repositories: over a real lakeFS client, on an embedded server.
import { afterEach, expect, test } from 'vitest'
import { openLake, type Lake } from '../../../test/support/doors/lake.ts'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { API_OBJECT_PART_MAX_BYTES } from '../limits.ts'

const opened: DoorWorld[] = []
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})

interface Looking extends Lake {
  readonly read: <T>(path: string) => Promise<T>
  readonly ask: (path: string) => Promise<Response>
}

async function openLooking(): Promise<Looking> {
  const lake = await openLake()
  const world = openDoorWorld({ page: { repositories: lake.view } })
  opened.push(world)
  const token = await world.tokenFor('viewer')
  const ask = (path: string): Promise<Response> => world.ask(path, { token })
  return {
    ...lake,
    ask,
    read: async <T>(path: string) => {
      const response = await ask(path)
      if (response.status !== 200) throw new Error(await response.text())
      return (await response.json()) as T
    },
  }
}

interface Commits {
  readonly commits: readonly {
    readonly id: string
    readonly message: string
    readonly parents: readonly string[]
  }[]
  readonly next_after?: string
}

test('DO-123 a branch is seen with its commits, page by page, and with what each of them changed', async () => {
  const { put, read } = await openLooking()
  const [first, second, third] = [
    await put('a.csv', '1'),
    await put('b/c.csv', '22'),
    await put('a.csv', '333'),
  ]
  expect(await read('/repositories')).toMatchObject({
    repositories: [{ name: 'lake', default_branch: 'main' }],
  })
  expect(await read('/repositories/lake/branches')).toEqual({ branches: [{ name: 'main', commit: third }] })
  expect(await read('/repositories/lake/tags')).toEqual({ tags: [] })
  const page = await read<Commits>('/repositories/lake/commits?from=main&limit=2')
  expect(page.commits.map(({ id, parents }) => [id, parents])).toEqual([
    [third, [second]],
    [second, [first]],
  ])
  const rest = await read<Commits>(
    `/repositories/lake/commits?from=main&limit=2&after=${page.next_after ?? ''}`,
  )
  expect(rest.commits[0]).toMatchObject({ id: first, message: 'put a.csv' })
  expect(await read(`/repositories/lake/changes?from=${first}&to=main`)).toEqual({
    changes: [
      { path: 'a.csv', change: 'changed', size: 3 },
      { path: 'b/c.csv', change: 'added', size: 2 },
    ],
  })
  const { entries } = await read<{ entries: unknown[] }>(`/repositories/lake/objects?at=${second}`)
  expect(entries).toMatchObject([
    { kind: 'object', path: 'a.csv', size: 1 },
    { kind: 'prefix', path: 'b/' },
  ])
})

test('DO-124 an object is given in parts of bounded size, as bytes that no browser runs', async () => {
  const { put, ask } = await openLooking()
  const content = `<script>${'x'.repeat(API_OBJECT_PART_MAX_BYTES)}`
  await put('page.html', content)
  const whole = await ask('/repositories/lake/object?at=main&path=page.html')
  expect((await whole.arrayBuffer()).byteLength).toBe(API_OBJECT_PART_MAX_BYTES)
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'perago-object-size': String(content.length),
  })
  const place = '/repositories/lake/object?at=main&path=page.html'
  const end = await ask(`${place}&start=${API_OBJECT_PART_MAX_BYTES}&length=100`)
  expect(await end.text()).toBe(content.slice(API_OBJECT_PART_MAX_BYTES))
  expect(await (await ask(`${place}&start=${content.length + 1}`)).text()).toBe('')
})

test.each([
  '/repositories/nothing/branches',
  '/repositories/lake/commits?from=nothing',
  '/repositories/lake/changes?from=main&to=nothing',
  '/repositories/lake/objects?at=nothing',
  '/repositories/lake/object?at=main&path=nothing',
  '/repositories/lake/object?at=nothing&path=a',
])('DO-123 what does not exist is not found: %s', async (path) => {
  const { ask } = await openLooking()
  expect((await ask(path)).status).toBe(404)
})

test.each([
  '/repositories/UPPER/branches',
  '/repositories/lake/commits',
  '/repositories/lake/commits?from=..%2F..%2Fx%3F',
  '/repositories/lake/changes?from=main',
  '/repositories/lake/object?at=main',
  '/repositories/lake/object?at=main&path=a&length=99999999',
])('DO-123 a request that is wrong is told so: %s', async (path) => {
  const { ask } = await openLooking()
  expect((await ask(path)).status).toBe(400)
})
