// Goal: a disk without room costs nobody anything but time.
// Method: a server on a disk of 16 MiB, filled to the last byte or file under it, and emptied again.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, type TestContext } from 'vitest'
import { LakefsRequests, type Reply } from '../../../../test/support/lakefs-requests.ts'
import { emptyDisk, fillDisk, mountSmallDisk } from '../../../../test/support/small-disk.ts'
import { untilFiled } from '../../../../test/support/until-filed.ts'
import { startEmbeddedLakefs } from '../server.ts'

const LARGE = Buffer.alloc(3_000_000, 'large')

const upload = (api: LakefsRequests, path: string, body: string | Buffer): Promise<Reply> =>
  api.send('POST', '~/branches/main/objects', { query: { path }, body })

function expectFull({ status, json }: Reply): void {
  expect(status).toBe(507)
  expect((json as { message: string }).message).toMatch(/the disk is full\. Nothing was stored/)
}

async function serverOn(dataDir: string) {
  const server = await startEmbeddedLakefs({ dataDir, accessKeyId: 'key', secretAccessKey: 'secret' })
  const api = new LakefsRequests(server, 'lake')
  onTestFinished(async () => {
    api.close()
    await server.close()
  })
  return { server, api }
}

async function lakeOnSmallDisk(context: TestContext) {
  const disk = await mountSmallDisk('tmpfs', context)
  const dataDir = join(disk, 'data')
  const { api, server } = await serverOn(dataDir)
  await api.create()
  await api.put('main', 'before', 'before')
  await untilFiled(dataDir)
  return { api, server, disk, dataDir }
}

for (const what of ['bytes', 'files'] as const) {
  test(`ES-115 with no room for more ${what} an upload is a 507, and works with room again`, async (context) => {
    const { api, server, disk, dataDir } = await lakeOnSmallDisk(context)
    const objects = readdirSync(join(dataDir, 'objects'))
    fillDisk(disk, what)

    expectFull(await upload(api, 'small', 'small'))
    expectFull(await upload(api, 'large', LARGE))
    expect(readdirSync(join(dataDir, 'objects'))).toEqual(objects)
    expect(readdirSync(join(dataDir, 'temp'))).toEqual([])
    expect((await api.get('main', 'before')).text).toBe('before')
    expect((await api.get('main', 'small')).status).toBe(404)

    emptyDisk(disk)
    expect((await upload(api, 'small', 'small')).status).toBe(201)
    expect((await upload(api, 'large', LARGE)).status).toBe(201)
    await api.commit('main', 'with room')
    await server.close()
    const after = await serverOn(dataDir)
    expect((await after.api.get('main', 'large')).bytes.equals(LARGE)).toBe(true)
    expect((await after.api.get('main', 'before')).text).toBe('before')
  })
}

test('ES-116 a commit without room is a 507 that changes nothing', async (context) => {
  const { api, server, disk, dataDir } = await lakeOnSmallDisk(context)
  await api.commit('main', 'one')
  await api.branch('dev', 'main')
  await api.put('dev', 'added')
  const heads = { main: await api.head('main'), dev: await api.head('dev') }
  fillDisk(disk, 'bytes')
  // What the log has used before it can use again: small writes go on for a while.
  const branch = (number: number) =>
    api.send('POST', '~/branches', { json: { name: `more-${String(number)}`, source: 'main' } })
  let reply = await branch(0)
  for (let count = 1; count < 3000 && reply.status === 201; count += 1) reply = await branch(count)
  expectFull(reply)
  const commit = () => api.send('POST', '~/branches/dev/commits', { json: { message: 'two' } })
  expectFull(await commit())
  expectFull(await commit())
  expect({ main: await api.head('main'), dev: await api.head('dev') }).toEqual(heads)
  emptyDisk(disk)
  expect((await commit()).status).toBe(201)
  expect((await api.merge('dev', 'main')).status).toBe(200)
  const head = await api.head('main')
  await server.close()
  expect(await (await serverOn(dataDir)).api.head('main')).toBe(head)
})

test('ES-306 what was answered and cannot be filed on a full disk is read, and filed by a later start', async (context) => {
  const { api, server, disk, dataDir } = await lakeOnSmallDisk(context)
  expect((await upload(api, 'last', 'answered')).status).toBe(201)
  fillDisk(disk, 'files')
  expect((await api.get('main', 'last')).text).toBe('answered')
  await server.close()
  emptyDisk(disk)
  const after = await serverOn(dataDir)
  expect((await after.api.get('main', 'last')).text).toBe('answered')
  expect(readdirSync(join(dataDir, 'incoming'))).toEqual([])
  expect(readdirSync(join(dataDir, 'objects'))).toHaveLength(2)
})
