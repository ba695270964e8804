// Goal: what an execution published leaves a branch, and nothing else ever does, whoever writes meanwhile.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  failureOf,
  filesOf,
  logOf,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
} from '../../test/support/publication-world.ts'
import type { CommitRef } from '../base/ids.ts'
import type { TaskId, WorkflowId } from '../fences/attempt-snapshot.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { RepoCall, RepoFault } from '../testing/scripted-world.ts'
import { publish } from './publish.ts'
import { openDataRollback } from './roll-back.ts'
import type { BranchRollback, BranchRolledBack, DataRollback, PathsRollback } from './rollback-port.ts'

const WORKFLOW = 'workflow-1'

let faultOf: (call: RepoCall) => RepoFault
let world: ScriptedRepo
let start: CommitRef
beforeEach(() => {
  faultOf = () => 'none'
  world = newWorld()
  start = world.commitDirectly(TARGET, { 'kept.txt': 'kept', 'features/b.txt': 'b before' })
})

function newWorld(): ScriptedRepo {
  const script = {
    arrive: (call: RepoCall) => Promise.resolve(faultOf(call)),
    answer: () => Promise.resolve(),
    later: () => undefined,
  }
  return new ScriptedRepo({ script })
}

/** As an attempt of the execution publishes it. */
async function publishAs(
  task: string,
  input: CommitRef,
  of: {
    readonly files?: Readonly<Record<string, string>>
    readonly deletes?: readonly string[]
    readonly workflow?: string
  } = {},
): Promise<CommitRef> {
  const { files = { [`features/${task}.txt`]: task }, deletes = [], workflow = WORKFLOW } = of
  const uploads = Object.entries(files).map(([path, text]) => uploadOf(path, text))
  const attempt = { taskId: task as TaskId, workflowId: workflow as WorkflowId }
  const { request } = publicationOf(world.connect(task), input, { attempt, changes: { uploads, deletes } })
  return (await publish(request)).outputRef
}

function openRollback(clock = new ManualClock()): { data: DataRollback; clock: ManualClock } {
  const repo = world.connect('rollback')
  return { clock, data: openDataRollback({ repoOf: () => repo, clock, random: { next: () => 0.5 } }) }
}

function requestOf(of: Partial<BranchRollback> & Pick<BranchRollback, 'expectedHead'>): BranchRollback {
  const own = { workflowIds: [WORKFLOW], taskIds: [] }
  return { repository: world.repository, branch: TARGET, to: start, own, ...of }
}

function back(of: Parameters<typeof requestOf>[0]): Promise<BranchRolledBack> {
  const { data, clock } = openRollback()
  return clock.run(data.moveBack(requestOf(of)))
}

const writes = (): number => world.calls.filter((call) => call.client === 'rollback' && call.writes).length

describe('a branch', () => {
  test('EN-610 it goes back over the publications of the execution; they stay reachable', async () => {
    const one = await publishAs('one', start)
    const two = await publishAs('two', one)
    const moved = await back({ expectedHead: two })
    expect(moved).toEqual({ is: 'moved', supersededRef: two, evidenceTag: `perago-superseded-${two}` })
    expect(world.head(TARGET)).toBe(start)
    expect((await logOf(world.connect('watcher'), two)).map(({ ref }) => ref)).toContain(one)
    const before = world.updates.length
    // Again, as after a crash.
    expect(await back({ expectedHead: two })).toEqual(moved)
    expect(world.updates).toHaveLength(before)
  })

  test('EN-610 publications of executions that it started may leave, too', async () => {
    const own = await publishAs('own', start)
    const child = await publishAs('child', own, { workflow: 'child-1' })
    expect(await failureOf(back({ expectedHead: child }))).toMatchObject({
      code: 'publication/foreign-commit',
    })
    const workflowIds = [WORKFLOW, 'child-1']
    expect(await back({ expectedHead: child, own: { workflowIds, taskIds: [] } })).toMatchObject({
      is: 'moved',
    })
    expect(world.head(TARGET)).toBe(start)
  })

  test('EN-611 a foreign commit on top, below or in place of the head refuses it, and nothing is written', async () => {
    const one = await publishAs('one', start)
    const foreign = world.commitDirectly(TARGET, { 'x.txt': 'x' })
    const two = await publishAs('two', foreign)
    expect(await failureOf(back({ expectedHead: two }))).toMatchObject({
      ...{ kind: 'refused', code: 'publication/foreign-commit' },
      details: { branch: TARGET, foreign },
    })
    world.commitDirectly(TARGET, { 'y.txt': 'y' })
    expect(await failureOf(back({ expectedHead: two, to: foreign }))).toMatchObject({
      code: 'publication/foreign-commit',
    })
    // The same files, published by another execution.
    const other = await publishAs('other', world.head(TARGET)!, { workflow: 'workflow-2' })
    expect(await failureOf(back({ expectedHead: other, to: two }))).toMatchObject({
      code: 'publication/foreign-commit',
    })
    expect(await failureOf(back({ expectedHead: 'f'.repeat(64) as CommitRef }))).toMatchObject({
      code: 'publication/head-moved',
    })
    world.model.branches.delete(TARGET)
    expect(await failureOf(back({ expectedHead: one }))).toMatchObject({ code: 'publication/head-moved' })
    expect(writes()).toBe(0)
  })

  test('EN-612 what an undone attempt published without its result being recorded leaves with the rest', async () => {
    const one = await publishAs('one', start)
    const lost = await publishAs('lost', one)
    expect(await failureOf(back({ expectedHead: one }))).toMatchObject({ code: 'publication/foreign-commit' })
    const own = { workflowIds: [WORKFLOW], taskIds: ['lost'] }
    expect(await back({ expectedHead: one, own })).toMatchObject({ is: 'moved', supersededRef: lost })
    expect(world.head(TARGET)).toBe(start)
  })

  test('EN-612 where nothing was recorded, only commits of undone attempts leave', async () => {
    const own = { workflowIds: [WORKFLOW], taskIds: ['lost'] }
    const request = { expectedHead: start, to: start, own }
    expect(await back(request)).toEqual({ is: 'there' })
    const lost = await publishAs('lost', start)
    expect(await back(request)).toMatchObject({ is: 'moved', supersededRef: lost })
    // A later attempt of the same execution, as after a rollback that somebody repeats too late.
    const later = await publishAs('later', start)
    expect(await back(request)).toEqual({ is: 'left', head: later })
    world.commitDirectly(TARGET, { 'x.txt': 'x' })
    expect(await back(request)).toMatchObject({ is: 'left' })
    expect((await logOf(world.connect('watcher'))).map(({ ref }) => ref)).toContain(later)
  })

  test('EN-613 a check reads only, and refuses what the rollback would', async () => {
    const one = await publishAs('one', start)
    const { data } = openRollback()
    await data.check(requestOf({ expectedHead: one }))
    world.commitDirectly(TARGET, { 'x.txt': 'x' })
    expect(await failureOf(data.check(requestOf({ expectedHead: one })))).toMatchObject({ kind: 'refused' })
    expect(writes()).toBe(0)
  })
})

test('EN-611 whatever is lost and whenever others write, no foreign commit leaves the branch', async () => {
  const fault = fc.constantFrom<RepoFault>('none', 'none', 'none', 'lose-request', 'lose-answer', 'refuse')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fault, { maxLength: 25 }),
      fc.array(fc.nat({ max: 25 }), { maxLength: 2 }),
      fc.boolean(),
      async (faults, intrusions, restoresPaths) => {
        faultOf = () => 'none'
        world = newWorld()
        start = world.commitDirectly(TARGET, { 'kept.txt': 'kept' })
        const head = await publishAs('two', await publishAs('one', start))
        const foreign: CommitRef[] = [start]
        let requests = 0
        let resets = 0
        faultOf = ({ request, client }) => {
          if (client !== 'rollback') return 'none'
          const number = requests++
          // Between the guard's reading and the arrival of the write is the window of the soft fence.
          const isInWindow = request === 'resetBranch'
          if (isInWindow) resets += 1
          if (intrusions.includes(number) && !isInWindow)
            foreign.push(world.commitDirectly(TARGET, { [`foreign-${number}`]: 'x' }))
          return faults[number] ?? 'none'
        }
        const { data, clock } = openRollback()
        const work: Promise<unknown> = restoresPaths
          ? data.restorePaths(pathsOf({ expectedHead: head, publishedOn: start, published: head }))
          : data.moveBack(requestOf({ expectedHead: head }))
        const outcome = await clock.run(work).catch((error: unknown) => error)
        faultOf = () => 'none'
        const log = (await logOf(world.connect('watcher'))).map(({ ref }) => ref)
        expect(log).toEqual(expect.arrayContaining(foreign))
        if (!(outcome instanceof Error) && foreign.length === 1 && !restoresPaths) expect(log[0]).toBe(start)
        if (resets > 0) expect(world.model.tags.get(`perago-superseded-${head}`)).toBe(head)
      },
    ),
  )
})

function pathsOf(of: Partial<PathsRollback>): PathsRollback {
  return {
    ...{ repository: world.repository, branch: TARGET, workflowId: WORKFLOW, subject: 'restore one' },
    ...{ expectedHead: start, publishedOn: start, published: start, ...of },
  }
}

describe('paths', () => {
  /** `one` changes a file, adds one and deletes one; `two` adds another. */
  async function published(): Promise<PathsRollback> {
    const files = { 'features/b.txt': 'b after', 'features/new.txt': 'new' }
    const before = world.commitDirectly(TARGET, { 'features/old.txt': 'old' })
    const one = await publishAs('one', before, { files, deletes: ['features/old.txt'] })
    const expectedHead = await publishAs('two', one)
    return pathsOf({ expectedHead, publishedOn: before, published: one })
  }

  const restore = (request: PathsRollback) => {
    const { data, clock } = openRollback()
    return clock.run(data.restorePaths(request))
  }

  test('EN-614 they are as before by one new commit; later work and other paths stay', async () => {
    const request = await published()
    const { outputRef, paths } = await restore(request)
    expect([...paths].sort()).toEqual(['features/b.txt', 'features/new.txt', 'features/old.txt'])
    expect(world.head(TARGET)).toBe(outputRef)
    expect(await filesOf(world.connect('watcher'))).toEqual({
      ...{ 'kept.txt': 'kept', 'features/b.txt': 'b before', 'features/old.txt': 'old' },
      'features/two.txt': 'two',
    })
    const [head, below] = await logOf(world.connect('watcher'))
    expect(below?.ref).toBe(request.expectedHead)
    expect(head?.metadata).toMatchObject({ 'publish.actor': 'rollback', 'publish.workflow': WORKFLOW })
    expect(await stagingBranchesOf(world.connect('watcher'))).toEqual([])
    // Again, as after a crash.
    expect(await restore(request)).toEqual({ outputRef, paths })
    expect(world.head(TARGET)).toBe(outputRef)
  })

  test('EN-614 the commit counts as one of the execution: a later rollback goes back over it', async () => {
    const { outputRef } = await restore(await published())
    const to = world.model.commit(world.model.commit(outputRef)!.parents[0]!)!.parents[0]!
    expect(await back({ expectedHead: outputRef, to })).toMatchObject({ is: 'moved' })
  })

  test('EN-614 only the named ones, if they are named', async () => {
    const request = await published()
    expect((await restore({ ...request, paths: ['features/b.txt'] })).paths).toEqual(['features/b.txt'])
    expect(await filesOf(world.connect('watcher'))).toMatchObject({
      ...{ 'features/b.txt': 'b before', 'features/new.txt': 'new' },
    })
  })

  test('EN-615 a path that was changed since, or never, is refused; so is a head that is not the recorded one', async () => {
    const request = await published()
    const later = await publishAs('three', request.expectedHead, { files: { 'features/b.txt': 'b again' } })
    const count = world.updates.length
    expect(await failureOf(restore({ ...request, expectedHead: later }))).toMatchObject({
      code: 'publication/path-changed-since',
    })
    expect(await failureOf(restore({ ...request, expectedHead: later, paths: ['kept.txt'] }))).toMatchObject({
      code: 'publication/path-not-published',
    })
    expect(await failureOf(restore(request))).toMatchObject({ code: 'publication/head-moved' })
    expect(world.updates).toHaveLength(count)
  })

  test.each(['lose-request', 'lose-answer'] as const)(
    'EN-614 a lost response (%s) to any of its writes is resolved',
    async (fault) => {
      const request = await published()
      const hit = new Set<string>()
      faultOf = ({ client, request: what, writes: isWrite }) =>
        client === 'rollback' && isWrite && !hit.has(what) ? (hit.add(what), fault) : 'none'
      const { outputRef } = await restore(request)
      faultOf = () => 'none'
      expect(hit).toContain('merge')
      expect(world.head(TARGET)).toBe(outputRef)
      expect((await filesOf(world.connect('watcher')))['features/b.txt']).toBe('b before')
    },
  )
})
