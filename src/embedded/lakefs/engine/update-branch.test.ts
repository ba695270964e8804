// Goal: what happens while action files run. Method: a hook runner whose every step the test decides.
import { expect, test } from 'vitest'
import { LAKE, openLake } from '../../../../test/support/embedded-engine.ts'
import { EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS } from '../../limits.ts'
import { EngineError, type HookEvent, type HookRunner } from './engine.ts'

const ACTION = '_lakefs_actions/a.yaml'

async function lakeWithHooks(
  onEvent: (event: HookEvent, read: Parameters<HookRunner>[1]) => Promise<void> | void,
) {
  const events: HookEvent[] = []
  const errors: unknown[] = []
  let isOn = false
  const lake = await openLake({
    hooks: async (event, read) => {
      if (!isOn) return
      events.push(event)
      await onEvent(event, read)
    },
    onPostHookError: (error) => errors.push(error),
  })
  await lake.put('main', ACTION, 'on: pre-merge')
  await lake.put('main', 'base')
  const base = (await lake.commit('main', 'base')).id
  const stage = async (name: string) => {
    await lake.branch(name, base)
    await lake.put(name, name)
    return (await lake.commit(name, name)).id
  }
  return { lake, base, stage, events, errors, turnOn: () => (isOn = true) }
}

test("EE-37 a pre-merge hook sees the finished commit and the source's action files, before the head moves", async () => {
  const seen: unknown[] = []
  const { lake, base, stage, events, turnOn } = await lakeWithHooks(async (event, read) => {
    if (event.type !== 'pre-merge') return
    const files = event.listActionFiles()
    seen.push(
      lake.head('main'),
      files.map((file) => file.path),
      (await read(files[0]!)).toString(),
    )
    // The commit can be read by its id already.
    seen.push(lake.engine.getCommit(LAKE, event.commit.id).parents)
  })
  const source = await stage('s')
  turnOn()
  const merged = await lake.merge('s', 'main')
  expect(seen).toEqual([base, [ACTION], 'on: pre-merge', [base, source]])
  expect(events.map((event) => event.type)).toEqual(['pre-merge', 'post-merge'])
  expect(events[0]).toMatchObject({ repository: LAKE, branch: 'main', sourceRef: 's', commit: merged })
})

test('EE-37 a pre-commit hook sees the branch with its uncommitted changes', async () => {
  const seen: string[][] = []
  const { lake, turnOn } = await lakeWithHooks((event) => {
    if (event.type === 'pre-commit') seen.push(event.listActionFiles().map((file) => file.path))
  })
  turnOn()
  await lake.put('main', '_lakefs_actions/b.yaml', 'x')
  await lake.remove('main', ACTION)
  await lake.commit('main', 'changed')
  expect(seen).toEqual([['_lakefs_actions/b.yaml']])
})

test('EE-38 a hook that refuses leaves the branch and what is staged as they were', async () => {
  const { lake, base, stage, turnOn } = await lakeWithHooks((event) => {
    if (event.type.startsWith('pre-')) throw new EngineError('hook-refused', 'no')
  })
  await stage('s')
  turnOn()
  await expect(lake.merge('s', 'main')).rejects.toMatchObject({ reason: 'hook-refused' })
  await lake.put('main', 'un')
  await expect(lake.commit('main', 'x')).rejects.toMatchObject({ reason: 'hook-refused' })
  expect(lake.head('main')).toBe(base)
  expect(lake.uncommitted('main')).toEqual(['added un'])
})

test('EE-38 what a post-hook throws is told and changes nothing', async () => {
  const { lake, stage, errors, turnOn } = await lakeWithHooks((event) => {
    if (event.type === 'post-merge') throw new Error('late')
  })
  await stage('s')
  turnOn()
  const merged = await lake.merge('s', 'main')
  expect(lake.head('main')).toBe(merged.id)
  expect(errors).toEqual([new Error('late')])
})

test('EE-39 a branch that moved while the hook ran is merged anew, hook included', async () => {
  let moves = 2
  const { lake, stage, events, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type !== 'pre-merge' || moves === 0) return
    moves -= 1
    await lake.engine.hardReset({ repository: LAKE, branch: 'main', ref: moves === 1 ? 'other' : 'base' })
  })
  const other = await stage('other')
  await lake.branch('base')
  await stage('s')
  turnOn()
  const merged = await lake.merge('s', 'main')
  const told = events.filter((event) => event.type === 'pre-merge').map((event) => event.commit.parents[0])
  expect(told).toEqual([lake.head('base'), other, lake.head('base')])
  expect(merged.parents[0]).toBe(told.at(-1))
})

test('EE-39 a head that went away and came back counts as moved', async () => {
  let isFirst = true
  const { lake, base, stage, events, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type !== 'pre-merge' || !isFirst) return
    isFirst = false
    for (const ref of ['main~1', base]) await lake.engine.hardReset({ repository: LAKE, branch: 'main', ref })
  })
  await stage('s')
  turnOn()
  await lake.merge('s', 'main')
  expect(events.filter((event) => event.type === 'pre-merge')).toHaveLength(2)
})

test('EE-39 an update gives up when the branch moves under it every time', async () => {
  const { lake, base, stage, events, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type === 'pre-merge')
      await lake.engine.hardReset({ repository: LAKE, branch: 'main', ref: base })
  })
  await stage('s')
  turnOn()
  await expect(lake.merge('s', 'main')).rejects.toMatchObject({ reason: 'too-many-attempts' })
  expect(events).toHaveLength(EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS)
  expect(lake.head('main')).toBe(base)
})

test('EE-40 an upload acknowledged while a commit is under way stays staged on the new head', async () => {
  const { lake, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type !== 'pre-commit') return
    await lake.put('main', 'during')
    await lake.put('main', 'first', 'newer')
  })
  turnOn()
  await lake.put('main', 'first', 'older')
  const { id } = await lake.commit('main', 'x')
  expect(await lake.read(id, 'first')).toBe('older')
  expect(await lake.read('main', 'first')).toBe('newer')
  expect(lake.uncommitted('main')).toEqual(['added during', 'changed first'])
})

test('EE-40 changes thrown away while a commit is under way are not committed', async () => {
  let isFirst = true
  const { lake, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type !== 'pre-commit' || !isFirst) return
    isFirst = false
    await lake.engine.resetUncommitted(LAKE, 'main', { type: 'object', path: 'thrown' })
  })
  turnOn()
  await lake.put('main', 'thrown')
  await lake.put('main', 'kept')
  await lake.commit('main', 'x')
  expect(lake.paths('main@')).toEqual([ACTION, 'base', 'kept'])
})

test('EE-40 an upload to the destination while a merge is under way stops it', async () => {
  const { lake, base, stage, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type === 'pre-merge') await lake.put('main', 'during')
  })
  await stage('s')
  turnOn()
  await expect(lake.merge('s', 'main')).rejects.toMatchObject({ reason: 'dirty-branch' })
  expect(lake.head('main')).toBe(base)
  expect(lake.uncommitted('main')).toEqual(['added during'])
})

test('EE-40 a branch deleted while a merge is under way stays deleted, also when its name is taken again', async () => {
  const { lake, stage, turnOn } = await lakeWithHooks(async (event) => {
    if (event.type === 'pre-merge') await lake.engine.deleteBranch(LAKE, 'target')
  })
  await lake.branch('target')
  await stage('s')
  turnOn()
  await expect(lake.merge('s', 'target')).rejects.toMatchObject({ reason: 'branch-not-found' })
})

test('EE-41 of merges that each expect the head they looked at, one lands, however many try', async () => {
  const { lake, base, stage, turnOn } = await lakeWithHooks((event) => {
    const expected = event.commit.metadata.expected
    if (event.type !== 'pre-merge' || expected === undefined) return
    if (event.commit.parents[0] !== expected) throw new EngineError('hook-refused', 'stale')
  })
  const names = Array.from({ length: 16 }, (_, index) => `p${index}`)
  for (const name of names) await stage(name)
  turnOn()
  const asked = await Promise.allSettled(
    names.map((name) => lake.merge(name, 'main', { metadata: { expected: base } })),
  )
  const [winner, ...others] = asked.filter((result) => result.status === 'fulfilled')
  expect(others).toEqual([])
  expect(winner?.value.parents[0]).toBe(base)
  expect(lake.head('main')).toBe(winner?.value.id)
  for (const result of asked) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'hook-refused' })
  }
})

test('EE-41 merges with hooks that expect nothing all land, one after the other', async () => {
  const { lake, stage, turnOn } = await lakeWithHooks(() => undefined)
  const names = Array.from({ length: 16 }, (_, index) => `p${index}`)
  for (const name of names) await stage(name)
  turnOn()
  await Promise.all(names.map((name) => lake.merge(name, 'main')))
  expect(lake.paths('main')).toEqual([ACTION, 'base', ...names].sort())
})
