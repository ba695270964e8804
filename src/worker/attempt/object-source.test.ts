import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { failureOf, TARGET } from '../../../test/support/publication-world.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { openObjectSource } from './object-source.ts'
import { planChanges } from './publish-changes.ts'

test('PU-34 a workspace is given the objects of its input commit, whatever the branch does meanwhile', async () => {
  const world = new ScriptedRepo()
  const input = world.commitDirectly(TARGET, { 'data/a': '1', 'data/b': '22', other: 'x' })
  world.commitDirectly(TARGET, { 'data/a': 'later', 'data/c': 'later' })
  const source = openObjectSource(world.connect('worker'), input)
  const listed: [string, number][] = []
  for await (const { key, sizeBytes } of source.list('data/')) listed.push([key, sizeBytes])
  expect(listed).toEqual([
    ['data/a', 1],
    ['data/b', 2],
  ])
  expect((await buffer(await source.read('data/a'))).toString()).toBe('1')
  expect(await failureOf(source.read('data/c'))).toMatchObject({
    kind: 'missing',
    code: 'publication/object-gone',
  })
})

test('PU-34 what a workspace changed is published with content type and metadata, its body opened anew for each try', async () => {
  let opened = 0
  const file = {
    key: 'data/a',
    localPath: '/data/a',
    sizeBytes: 1,
    contentType: 'text/csv',
    metadata: { owner: 'x' },
    isNew: true,
    open: () => Readable.from([Buffer.from(String(++opened))]),
  }
  const { uploads, deletes } = planChanges({ uploads: [file], deletes: ['data/b'] })
  expect(deletes).toEqual(['data/b'])
  expect(uploads).toMatchObject([
    { path: 'data/a', contentType: 'text/csv', metadata: { owner: 'x' }, body: { sizeBytes: 1 } },
  ])
  const bodies = [uploads[0]!.body.open(), uploads[0]!.body.open()] as Readable[]
  expect(await Promise.all(bodies.map(async (body) => (await buffer(body)).toString()))).toEqual(['1', '2'])
})
