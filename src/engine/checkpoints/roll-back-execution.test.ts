// Goal: state and branches go back together, exactly as far as was asked for, whatever stops the rollback on its way.
// Method: units of an execution publish to a repository by the code of the worker; the rules alone are their host.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ExecutionWorld, SCOPE, unitOf, workspaceAt } from '../../../test/support/checkpoint-world.ts'
import { failureOf, filesOf, publicationOf, uploadOf } from '../../../test/support/publication-world.ts'
import { systemClock } from '../../base/clock.ts'
import { branchName, repositoryName, type CommitRef } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { systemRandom } from '../../base/random.ts'
import type { Store } from '../../core/ports.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../embedded/lakefs/server.ts'
import { createRepository } from '../../lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../lakefs/client.ts'
import { openLakefsRepo } from '../../lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { publish } from '../../publication/publish.ts'
import { openDataRollback } from '../../publication/roll-back.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { applyResult } from '../protocol/updates.ts'
import { openCheckpoints, type Checkpoints } from './checkpoints.ts'
import { dueCheckpoint } from './due-checkpoint.ts'
import { resumeRollback, rollBackExecution, type RollbackParts } from './roll-back-execution.ts'
import { openStoreBodies } from './store-bodies.ts'
import type { RollbackScope } from './undone-units.ts'

const [MAIN, SIDE] = [branchName('main'), branchName('side')]

interface Scene {
  readonly repo: VersionedRepo
  readonly start: CommitRef
  readonly store: Store
  readonly checkpoints: Checkpoints
  readonly world: ExecutionWorld
  readonly parts: RollbackParts
}

const from = (unit: string): JsonObject => ({ workspace: `\${${unit}.output.workspace}` })

/** `load` and `clean` publish to main one after the other, `side` to another branch, `report` after all. */
const UNITS = [
  unitOf('load', [], { phase: 'in', inputParameters: { workspace: '${workflow.input.main}' } }),
  unitOf('side', [], { phase: 'in', inputParameters: { workspace: '${workflow.input.side}' } }),
  unitOf('clean', ['load'], { phase: 'work', inputParameters: from('load') }),
  unitOf('report', ['clean', 'side'], { phase: 'out', inputParameters: from('clean') }),
]

async function openScene(repo: VersionedRepo): Promise<Scene> {
  const main = await repo.readBranch(MAIN)
  const start = main!.head
  await repo.createBranch({ branch: SIDE, from: start })
  const store = openMemoryStore()
  const checkpoints = openCheckpoints({ store, bodies: [openStoreBodies(store)] })
  const input = {
    main: workspaceAt(start, MAIN, repo.repository),
    side: workspaceAt(start, SIDE, repo.repository),
  }
  const world = new ExecutionWorld(UNITS, input)
  const parts: RollbackParts = {
    host: {
      read: () => Promise.resolve(world.execution),
      change: (_, change) => {
        const { execution, answer } = change(world.execution, world.moment())
        world.execution = execution
        return Promise.resolve(answer)
      },
    },
    ...{ checkpoints, store, clock: systemClock, random: systemRandom },
    data: openDataRollback({ repoOf: () => repo }),
  }
  return { repo, start, store, checkpoints, world, parts }
}

async function keepUp({ checkpoints, world: { execution } }: Scene): Promise<void> {
  const [newest] = await checkpoints.list(SCOPE)
  const reason = dueCheckpoint(execution, newest, 'phase')
  if (reason !== undefined) await checkpoints.take({ scope: SCOPE, execution, reason })
}

/** A unit publishes a file of its own name. */
async function publishBy({ repo, world }: Scene, unit: string): Promise<JsonObject> {
  const { record } = world.claim(unit)
  const { branch, ref } = record.input.workspace as { branch: string; ref: string }
  const changes = { uploads: [uploadOf(`${unit}.txt`, record.taskId)], deletes: [] }
  const { request } = publicationOf(repo, ref as CommitRef, {
    attempt: { taskId: record.taskId, workflowId: record.workflowId },
    authority: { referenceTaskName: unit, executionId: record.taskId },
    target: { branch: branchName(branch), inputRef: ref as CommitRef, prefix: '' },
    changes,
  })
  const { outputRef } = await publish(request)
  return { workspace: workspaceAt(outputRef, branch, repo.repository) }
}

async function run(scene: Scene, ...units: readonly string[]): Promise<void> {
  for (const unit of units) {
    scene.world.end(unit, await publishBy(scene, unit))
    await keepUp(scene)
  }
}

async function filesNow({ repo }: Scene): Promise<{ main: readonly string[]; side: readonly string[] }> {
  return { main: Object.keys(await filesOf(repo, MAIN)), side: Object.keys(await filesOf(repo, SIDE)) }
}

const back = ({ parts }: Scene, of: RollbackScope | { level: 'last-good' }) =>
  rollBackExecution(parts, { scope: SCOPE, of, then: 'continue' })

const doneUnits = ({ world }: Scene): readonly string[] =>
  world.execution.rows
    .filter(({ record }) => record.status === 'COMPLETED')
    .map(({ record }) => record.referenceTaskName)

let server: EmbeddedLakefs
let client: LakefsClient
let count = 0
beforeAll(async () => {
  server = await startEmbeddedLakefs()
  client = createLakefsClient({ ...server, endpoint: server.url, retry: { firstDelayMs: 1 } })
})
afterAll(async () => {
  await client.close()
  await server.close()
})

const REPOS: Readonly<Record<string, () => Promise<VersionedRepo>>> = {
  'a scripted repository': () => Promise.resolve(new ScriptedRepo().connect('all')),
  'the embedded lakeFS': async () => {
    const repository = repositoryName(`rollback-${++count}`)
    await createRepository(client, { repository, storageNamespace: `local://${repository}` })
    return openLakefsRepo(client, repository)
  },
}

describe.each(Object.entries(REPOS))('on %s', (_, openRepo) => {
  let scene: Scene
  beforeEach(async () => {
    scene = await openScene(await openRepo())
    await keepUp(scene)
  })

  test('X-02 a phase goes back with all that depends on it; the others keep state and data', async () => {
    await run(scene, 'load', 'side', 'clean', 'report')
    expect(await filesNow(scene)).toEqual({
      main: ['clean.txt', 'load.txt', 'report.txt'],
      side: ['side.txt'],
    })
    expect(scene.world.execution.status).toBe('COMPLETED')
    const report = await back(scene, { level: 'phase', phaseId: 'work' })
    expect(report).toMatchObject({ undone: ['clean', 'report'], branches: [{ branch: 'main', is: 'moved' }] })
    expect(await filesNow(scene)).toEqual({ main: ['load.txt'], side: ['side.txt'] })
    expect(doneUnits(scene)).toEqual(['load', 'side'])
    expect(scene.world.open).toEqual(['clean'])
    // It runs on from there, on the branch as it is now.
    await run(scene, 'clean', 'report')
    expect(scene.world.execution.status).toBe('COMPLETED')
    expect((await filesNow(scene)).main).toEqual(['clean.txt', 'load.txt', 'report.txt'])
  })

  test('X-02 a unit goes back, and a unit beside it stays', async () => {
    await run(scene, 'load', 'side', 'clean')
    await back(scene, { level: 'unit', unit: 'side' })
    expect(await filesNow(scene)).toEqual({ main: ['clean.txt', 'load.txt'], side: [] })
    expect(doneUnits(scene)).toEqual(['load', 'clean'])
    expect(scene.world.open).toEqual(['side'])
  })

  test('X-02 an artifact goes back by a new commit; the unit and what came later stay done', async () => {
    await run(scene, 'load', 'side', 'clean')
    // The next one would work on the same branch.
    scene.world.end('report', scene.world.row('report').record.input)
    const report = await back(scene, { level: 'artifact', unit: 'load' })
    expect(report.restored).toEqual([{ branch: 'main', paths: ['load.txt'] }])
    expect(await filesNow(scene)).toEqual({ main: ['clean.txt'], side: ['side.txt'] })
    expect(doneUnits(scene)).toEqual(['load', 'side', 'clean', 'report'])
    const head = (await scene.repo.readBranch(MAIN))!.head
    expect(scene.world.row('clean').record.output.workspace).toMatchObject({ ref: head })
    // The recorded head is known: everything can still go back over it.
    await back(scene, { level: 'execution' })
    expect(await filesNow(scene)).toEqual({ main: [], side: [] })
    expect([...scene.world.open].sort()).toEqual(['load', 'side'])
  })

  test('X-68 forward from a checkpoint, the steps after it run again and those before do not', async () => {
    await run(scene, 'load', 'side', 'clean', 'report')
    const records = await scene.checkpoints.list(SCOPE)
    const { checkpointId } = records.find(({ phaseId }) => phaseId === 'in')!
    const before = scene.world.execution.rows.map(({ record }) => record.taskId)
    await back(scene, { level: 'checkpoint', checkpointId })
    expect(await filesNow(scene)).toEqual({ main: ['load.txt'], side: ['side.txt'] })
    expect(doneUnits(scene)).toEqual(['load', 'side'])
    expect(scene.world.open).toEqual(['clean'])
    expect(before).not.toContain(scene.world.row('clean').record.taskId)
  })

  test('X-05 after a failure it continues from its last good checkpoint; finished phases do not run again', async () => {
    await run(scene, 'load', 'side')
    scene.world.end('clean', {}, 'FAILED')
    expect(scene.world.execution.status).toBe('FAILED')
    await back(scene, { level: 'last-good' })
    expect(doneUnits(scene)).toEqual(['load', 'side'])
    expect(scene.world.open).toEqual(['clean'])
    await run(scene, 'clean', 'report')
    expect(scene.world.execution.status).toBe('COMPLETED')
  })

  test('X-69 of three units one failed: it alone runs again, the results of the others remain', async () => {
    await run(scene, 'load', 'side')
    scene.world.claim('clean')
    scene.world.end('clean', {}, 'FAILED')
    const kept = ['load', 'side'].map((unit) => scene.world.row(unit).record)
    await back(scene, { level: 'unit', unit: 'clean' })
    expect(['load', 'side'].map((unit) => scene.world.row(unit).record)).toEqual(kept)
    expect(scene.world.execution.status).toBe('RUNNING')
    expect(scene.world.open).toEqual(['clean'])
  })

  test('EN-620 an attempt of before is stale: its result changes nothing, and what it published leaves', async () => {
    await run(scene, 'load', 'side')
    const published = await publishBy(scene, 'clean')
    const { taskId, workflowId, workerId } = scene.world.row('clean').record
    await back(scene, { level: 'unit', unit: 'clean' })
    expect((await filesNow(scene)).main).toEqual(['load.txt'])
    const after = scene.world.execution
    const result = { taskId, workflowId, workerId, status: 'COMPLETED' as const, output: published }
    const own = { isOwn: true, isOpen: true, moment: scene.world.moment() }
    expect(applyResult(after, result, own)).toBe(after)
    await run(scene, 'clean', 'report')
    expect(scene.world.execution.status).toBe('COMPLETED')
  })

  test('EN-621 a foreign commit on one of the branches refuses everything, and nothing has changed', async () => {
    await run(scene, 'load', 'side', 'clean')
    const body = { sizeBytes: 1, open: () => Buffer.from('x') }
    await scene.repo.write({ branch: SIDE, path: 'theirs.txt', body })
    await scene.repo.commit({ branch: SIDE, message: 'Theirs' })
    const [before, files] = [scene.world.execution, await filesNow(scene)]
    expect(await failureOf(back(scene, { level: 'execution' }))).toMatchObject({ kind: 'refused' })
    expect(scene.world.execution).toBe(before)
    expect(await filesNow(scene)).toEqual(files)
    // What does not touch that branch is possible.
    await back(scene, { level: 'unit', unit: 'clean' })
    expect(await filesNow(scene)).toEqual({ main: ['load.txt'], side: ['side.txt', 'theirs.txt'] })
  })

  test('EN-622 stopped at any step on its way, repeating it ends like one that was not stopped', async () => {
    const outcomes: unknown[] = []
    for (let stopAt = 0; stopAt < 12; stopAt++) {
      scene = await openScene(await openRepo())
      await keepUp(scene)
      await run(scene, 'load', 'side', 'clean')
      let steps = 0
      // The effect took place, and the process died before it knew.
      const dying = async <T>(work: Promise<T>): Promise<T> => {
        const result = await work
        if (steps++ === stopAt) throw new Error('killed')
        return result
      }
      const { host, data, store } = scene.parts
      const killed: RollbackParts = {
        ...scene.parts,
        host: { ...host, change: (id, change) => dying(host.change(id, change)) },
        data: { ...data, moveBack: (request) => dying(data.moveBack(request)) },
        store: { ...store, commit: (batch) => dying(store.commit(batch)) },
      }
      const request = { scope: SCOPE, of: { level: 'execution' as const }, then: 'continue' as const }
      await rollBackExecution(killed, request).catch((error: unknown) => {
        if (!(error instanceof Error && error.message === 'killed')) throw error
      })
      await resumeRollback(scene.parts, SCOPE)
      expect(await resumeRollback(scene.parts, SCOPE)).toBeUndefined()
      const { status, rollbacks, rows } = scene.world.execution
      outcomes.push({ status, count: rollbacks.length, rows: rows.length, ...(await filesNow(scene)) })
    }
    expect(outcomes).toEqual(
      outcomes.map(() => ({ status: 'RUNNING', count: 1, rows: 2, main: [], side: [] })),
    )
  })
})

describe('what is refused', () => {
  let scene: Scene
  beforeEach(async () => {
    scene = await openScene(new ScriptedRepo().connect('all'))
    await keepUp(scene)
  })

  test('EN-623 an artifact while a unit works on its branch, and one that was never published', async () => {
    await run(scene, 'load')
    expect(await failureOf(back(scene, { level: 'artifact', unit: 'load' }))).toMatchObject({
      code: 'engine/branch-in-use',
    })
    expect(await failureOf(back(scene, { level: 'artifact', unit: 'clean' }))).toMatchObject({
      code: 'engine/nothing-published',
    })
  })

  test('EN-623 a unit or a phase that the graph does not have, and a checkpoint that is not there', async () => {
    for (const of of [
      { level: 'unit', unit: 'nobody' },
      { level: 'phase', phaseId: 'nothing' },
      { level: 'checkpoint', checkpointId: 'cp-9-0-0' },
    ] as const)
      expect(await failureOf(back(scene, of))).toMatchObject({ kind: 'missing' })
  })
})
