// Goal: the engine takes checkpoints before it goes on, and a rollback of an execution is all or nothing for whoever uses it,
// whatever stops it on its way.
// Method: real engines over each store; the places of bodies and the branches are scripted.
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { unitOf, workspaceAt, commitOf } from '../../../test/support/checkpoint-world.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import { UnavailableError, RefusedError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { executionId } from '../../core/keys.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import type { BranchRollback, DataRollback } from '../../publication/rollback-port.ts'
import type { TaskRecord, WorkflowId } from '../../worker/ports.ts'
import type { CheckpointBodies } from '../checkpoints/ports.ts'
import { openStoreBodies } from '../checkpoints/store-bodies.ts'
import type { Graph, Recovery, Unit } from '../graph/graph.ts'
import type { EngineCheckpoints } from './engine-checkpoints.ts'
import { openEngine, type Engine } from './open-engine.ts'

/** Each writes to the branch what the one before it has left there. */
const CHAIN: readonly Unit[] = [
  unitOf('load', [], { phase: 'in', inputParameters: { workspace: '${workflow.input.workspace}' } }),
  unitOf('clean', ['load'], { phase: 'work', inputParameters: { workspace: '${load.output.workspace}' } }),
  unitOf('report', ['clean'], { phase: 'out', inputParameters: { workspace: '${clean.output.workspace}' } }),
]

function graphOf(units: readonly Unit[], more: Partial<Graph> = {}): Graph {
  return {
    ...{ name: 'etl', version: 1, units, inputTemplate: {}, outputParameters: undefined },
    ...{ restartable: true, timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
    ...more,
  }
}

const WORK = { level: 'phase', phaseId: 'work' } as const
const START = { input: { workspace: workspaceAt(commitOf('start')) } }

/** Branches that are moved where the rollback says, unless something happens. */
class Data implements DataRollback {
  readonly moved: BranchRollback[] = []
  onCheck: () => Promise<void> = () => Promise.resolve()
  onMove: () => Promise<void> = () => Promise.resolve()
  check = () => this.onCheck()
  checkPaths = () => Promise.resolve()
  restorePaths = () => Promise.resolve({ outputRef: commitOf('restored'), paths: ['a'] })
  async moveBack(request: BranchRollback) {
    await this.onMove()
    this.moved.push(request)
    return { is: 'moved', supersededRef: request.expectedHead, evidenceTag: 'tag' } as const
  }
}

interface Scene {
  readonly engine: Engine
  readonly data: Data
  /** Where checkpoints are kept: whether it has room. */
  readonly place: { isFull: boolean; until?: Promise<void> }
  readonly store: Store
  readonly open: (more?: EngineCheckpoints) => Promise<Engine>
}

async function setUp(kind: StoreKind, context: TestContext, more: EngineCheckpoints = {}): Promise<Scene> {
  const { store, openAnother } = await kind.open(context)
  const data = new Data()
  const place: Scene['place'] = { isFull: false }
  const inStore = openStoreBodies(store)
  const bodies: CheckpointBodies = {
    ...inStore,
    async write(at, bytes) {
      await place.until
      if (place.isFull) throw new Error('no space left on device')
      return inStore.write(at, bytes)
    },
  }
  const open = async (again: EngineCheckpoints = {}): Promise<Engine> => {
    const checkpoints = { data, bodies: [bodies], ...more, ...again }
    const engine = await openEngine({ store: await openAnother(), leaseMs: 900, checkpoints })
    onTestFinished(() => engine.close())
    return engine
  }
  const engine = await open()
  await engine.control.registerTask({ name: 'work', retryCount: 0 })
  return { engine, data, place, store, open }
}

function poll({ queue }: Engine, waitMs = 0): Promise<readonly TaskRecord[]> {
  return queue.poll({ taskType: 'work', workerId: 'w', count: 10, waitMs })
}

function post(
  { queue }: Engine,
  { taskId, workflowId, workerId }: TaskRecord,
  output: JsonObject = {},
  status: 'COMPLETED' | 'FAILED' = 'COMPLETED',
): Promise<boolean> {
  return queue.postResult({ taskId, workflowId, workerId, status, output })
}

/** One unit runs, and publishes a commit of its name. */
async function work(engine: Engine): Promise<string | undefined> {
  const [task] = await poll(engine, 1_000)
  if (task === undefined) return undefined
  await post(engine, task, { workspace: workspaceAt(commitOf(task.referenceTaskName)) })
  return task.referenceTaskName
}

async function workTimes(engine: Engine, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) expect(await work(engine)).toBeDefined()
}

const phasesOf = async ({ control }: Engine, id: WorkflowId): Promise<readonly string[]> =>
  (await control.listCheckpoints(id)).map(({ phaseId }) => phaseId)

describe.each(STORE_KINDS)('on $kind', (kind) => {
  test('X-59 EN-624 an engine takes a checkpoint at the start and after each phase', async (context) => {
    const { engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    expect(await phasesOf(engine, id)).toEqual(['start'])
    await workTimes(engine, 3)
    expect(await phasesOf(engine, id)).toEqual(['out', 'work', 'in', 'start'])
    const described = await engine.control.describe(id)
    expect(described.checkpoints.map(({ phase_id }) => phase_id)).toEqual(['start', 'in', 'work', 'out'])
    expect(described.checkpoints.at(-1)?.state_snapshot).toMatchObject({
      branches: [{ branch: 'main', ref: commitOf('report') }],
    })
  })

  test('X-106 per unit, its checkpoint is stored before a worker gets the unit', async (context) => {
    const { engine } = await setUp(kind, context, { frequency: 'unit' })
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    const [first] = await poll(engine)
    const [newest] = await engine.control.listCheckpoints(id)
    expect(newest).toMatchObject({ units: ['load'], attempts: [first!.taskId] })
  })

  test('EN-624 nothing that follows is handed out before the checkpoint is kept; results are taken', async (context) => {
    const { engine, place } = await setUp(kind, context)
    const beside = unitOf('beside', [], { phase: 'in' })
    const id = await engine.control.startGraph(graphOf([...CHAIN, beside]), START)
    const [load, other] = await poll(engine)
    await post(engine, other!)
    place.isFull = true
    expect(await post(engine, load!, { workspace: workspaceAt(commitOf('load')) })).toBe(true)
    expect(await poll(engine, 300)).toEqual([])
    expect(await phasesOf(engine, id)).toEqual(['start'])
    place.isFull = false
    expect(await work(engine)).toBe('clean')
    expect((await phasesOf(engine, id)).at(0)).toBe('work')
  })

  test('EN-625 what was due when an engine ended is taken by the next one before it hands anything out', async (context) => {
    const { engine, place, open } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    place.isFull = true
    const [load] = await poll(engine)
    await post(engine, load!, { workspace: workspaceAt(commitOf('load')) })
    await engine.close()
    const second = await open()
    expect(await poll(second)).toEqual([])
    place.isFull = false
    const [clean] = await poll(second, 2_000)
    expect(clean?.referenceTaskName).toBe('clean')
    expect(await phasesOf(second, id)).toEqual(['in', 'start'])
  })

  test('EN-626 a checkpoint that is too large is left out, and the execution goes on', async (context) => {
    const { engine } = await setUp(kind, context, { limits: { maxBytes: 2_000 } })
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    const [load] = await poll(engine)
    const noise = Array.from({ length: 1_000 }, () => Math.random())
    await post(engine, load!, { workspace: workspaceAt(commitOf('load')), noise })
    await workTimes(engine, 2)
    expect((await engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
    expect(await phasesOf(engine, id)).toEqual(['start'])
  })

  test('EN-627 a phase goes back while the execution runs, and it runs on from there', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    const [report] = await poll(engine)
    const preview = await engine.control.previewRollBack(id, { level: 'phase', phaseId: 'work' })
    expect(preview).toMatchObject({
      undone: ['clean', 'report'],
      moves: [{ branch: 'main', from: commitOf('clean'), to: commitOf('load') }],
      refusals: [],
    })
    expect(data.moved).toEqual([])
    await engine.control.rollBack(id, { of: { level: 'phase', phaseId: 'work' } })
    expect(data.moved).toMatchObject([{ expectedHead: commitOf('clean'), to: commitOf('load') }])
    expect(await post(engine, report!)).toBe(false)
    // Of the restored state, before anything of it is handed out.
    expect((await phasesOf(engine, id))[0]).toBe('in')
    await workTimes(engine, 2)
    expect((await engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
  })

  test('EN-627 an execution that has ended goes back to its last good checkpoint, and runs again', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    const [report] = await poll(engine)
    await post(engine, report!, {}, 'FAILED')
    expect((await engine.control.readWorkflow(id))?.status).toBe('FAILED')
    await engine.control.rollBack(id, { of: { level: 'last-good' }, reason: 'again' })
    expect(await work(engine)).toBe('report')
    expect((await engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
    expect((await engine.control.readExecution(id))?.rollbacks).toMatchObject([{ reason: 'again' }])
    expect(data.moved.filter(({ expectedHead, to }) => expectedHead !== to)).toEqual([])
  })

  test('EN-628 while it goes back, commands and results are refused as temporary, and nothing is handed out', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const beside = unitOf('beside', [], { phase: 'in' })
    const late = unitOf('late', [], { phase: 'in' })
    const id = await engine.control.startGraph(graphOf([...CHAIN, beside, late]), START)
    const [load, besideTask] = await engine.queue.poll({
      ...{ taskType: 'work', workerId: 'w', count: 2, waitMs: 0 },
    })
    await post(engine, load!, { workspace: workspaceAt(commitOf('load')) })
    const refused = { kind: 'unavailable', code: 'engine/rolling-back' }
    data.onMove = async () => {
      const { control } = engine
      for (const call of [
        () => control.pause(id),
        () => control.terminate(id),
        () => control.retry(id),
        () => control.remove(id),
        () => control.setVariable(id, 'x', 1),
        () => control.publishEvent(id, { type: 'a.b', source: 'test' }),
        () => control.rollBack(id, { of: { level: 'execution' } }),
        () => post(engine, besideTask!),
      ])
        await expect(call()).rejects.toMatchObject(refused)
      expect(await poll(engine)).toEqual([])
    }
    await engine.control.rollBack(id, { of: { level: 'unit', unit: 'load' } })
    data.onMove = () => Promise.resolve()
    expect(data.moved).toHaveLength(1)
    expect(await post(engine, besideTask!)).toBe(true)
    const open = (await poll(engine)).map(({ referenceTaskName }) => referenceTaskName)
    expect(open.sort()).toEqual(['late', 'load'])
  })

  test('EN-629 a rollback that was stopped is finished by the next engine, before it hands anything out', async (context) => {
    const { engine, data, open } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 3)
    data.onMove = () => Promise.reject(new UnavailableError('test/down', 'no repository'))
    const rolledBack = engine.control.rollBack(id, { of: { level: 'phase', phaseId: 'work' } })
    await expect(rolledBack).rejects.toMatchObject({ code: 'test/down' })
    await engine.close()
    const second = await open()
    await expect(second.control.retry(id)).rejects.toMatchObject({ code: 'engine/rolling-back' })
    data.onMove = () => Promise.resolve()
    await second.close()
    const third = await open()
    await expect.poll(() => work(third), { timeout: 5_000 }).toBe('clean')
    expect(data.moved).toMatchObject([{ expectedHead: commitOf('report'), to: commitOf('load') }])
    expect(await work(third)).toBe('report')
    expect((await third.control.readWorkflow(id))?.status).toBe('COMPLETED')
  })

  test('EN-630 a rollback that cannot end is abandoned: the execution is ended, and is free again', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    data.onMove = () => Promise.reject(new RefusedError('publication/head-moved', 'somebody else wrote'))
    await expect(engine.control.rollBack(id, { of: { level: 'execution' } })).rejects.toMatchObject({
      code: 'publication/head-moved',
    })
    await expect(engine.control.resume(id)).rejects.toMatchObject({ code: 'engine/rolling-back' })
    await engine.control.abandonRollBack(id, { reason: 'settled by hand' })
    const ended = await engine.control.readExecution(id)
    expect(ended).toMatchObject({ status: 'TERMINATED', reasonForIncompletion: 'settled by hand' })
    await expect(engine.control.abandonRollBack(id, { reason: 'x' })).rejects.toMatchObject({
      code: 'engine/no-rollback',
    })
  })

  test('F-58 EN-721 what has ended is not taken back while another execution may write its branch', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 3)
    const other = await engine.control.startGraph(graphOf(CHAIN), START)
    const refused = { code: 'engine/branch-taken' }
    for (const then of ['continue', 'end'] as const)
      await expect(engine.control.rollBack(id, { of: WORK, then })).rejects.toMatchObject(refused)
    expect(data.moved).toEqual([])
    await engine.control.terminate(other)
    await engine.control.rollBack(id, { of: WORK })
    await expect(engine.control.startGraph(graphOf(CHAIN), START)).rejects.toMatchObject(refused)
  })

  test('F-58 EN-721 from its first step on, nobody else gets the branch of a rollback, whatever stops it', async (context) => {
    const { engine, data, open } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 3)
    const start = (other: Engine) => other.control.startGraph(graphOf(CHAIN), START)
    const refused = { code: 'engine/branch-taken' }
    data.onMove = async () => {
      await expect(start(engine)).rejects.toMatchObject(refused)
      throw new UnavailableError('test/down', 'no repository')
    }
    // It is noted, and done when the repository is back: whoever asked must not ask again as if nothing had happened.
    await expect(engine.control.rollBack(id, { of: WORK })).rejects.toMatchObject({
      ...{ kind: 'uncertain', code: 'test/down' },
    })
    await expect(start(engine)).rejects.toMatchObject(refused)
    await engine.close()
    data.onMove = () => Promise.reject(new UnavailableError('test/down', 'no repository'))
    const second = await open()
    await expect(start(second)).rejects.toMatchObject(refused)
    await second.control.abandonRollBack(id, { reason: 'settled by hand' })
    await start(second)
  })

  test('EN-597 whoever sees that one has ended may start the next on its branch, while its checkpoint is being taken', async (context) => {
    const { engine, place } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    let release: () => void = () => undefined
    place.until = new Promise((resolve) => (release = resolve))
    const [last] = await poll(engine, 1_000)
    const posted = post(engine, last!, { workspace: workspaceAt(commitOf('report')) })
    await expect.poll(async () => (await engine.control.readExecution(id))?.status).toBe('COMPLETED')
    const next = engine.control.startGraph(graphOf(CHAIN), START)
    release()
    await posted
    expect(await next).toBeDefined()
  })

  test('EN-596 what has ended is taken back and stays ended, however it had ended', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const completed = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 3)
    const cancelled = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    await engine.control.terminate(cancelled)
    for (const id of [cancelled, completed]) {
      await engine.control.rollBack(id, { of: WORK, then: 'end', reason: 'not wanted' })
      expect(await engine.control.readExecution(id)).toMatchObject({ status: 'TERMINATED' })
      await engine.control.startGraph(graphOf(CHAIN), START).then((next) => engine.control.terminate(next))
    }
    expect(data.moved.length).toBeGreaterThan(0)
  })

  test('EN-723 paths of an execution that has ended are restored, and it stays ended', async (context) => {
    const { engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 3)
    const of = { level: 'artifact', unit: 'report' } as const
    expect((await engine.control.rollBack(id, { of })).restored).toEqual([{ branch: 'main', paths: ['a'] }])
    const after = await engine.control.readExecution(id)
    expect(after).toMatchObject({ status: 'COMPLETED', rollbacks: [{ level: 'artifact' }] })
    expect(after?.rows.at(-1)?.record.output).toMatchObject({ workspace: { ref: commitOf('restored') } })
    await engine.control.startGraph(graphOf(CHAIN), START)
  })

  test('EN-722 a rollback that is asked for again under its key is done once', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 2)
    const ask = (key: string) => engine.control.rollBack(id, { of: WORK, key })
    expect(await ask('k')).toMatchObject({ undone: ['clean'], branches: [{ is: 'moved' }] })
    expect(await work(engine)).toBe('clean')
    expect(await ask('k')).toEqual({ undone: ['clean'], branches: [], restored: [], damaged: [] })
    expect(data.moved).toHaveLength(1)
    // One that was stopped is finished by the same request.
    data.onMove = () => Promise.reject(new UnavailableError('test/down', 'no repository'))
    await expect(ask('another')).rejects.toMatchObject({ kind: 'uncertain' })
    data.onMove = () => Promise.resolve()
    expect(await ask('another')).toMatchObject({ undone: expect.arrayContaining(['clean']) as unknown })
    expect(data.moved).toHaveLength(2)
    expect((await engine.control.readExecution(id))?.rollbacks).toHaveLength(2)
  })

  test('EN-628 a rollback that is refused at once leaves everything as it was', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    await workTimes(engine, 1)
    data.onCheck = () =>
      Promise.reject(new RefusedError('publication/foreign-commit', 'theirs', { next: 'Ask.' }))
    const of = { level: 'execution' } as const
    expect((await engine.control.previewRollBack(id, of)).refusals).toEqual([
      { code: 'publication/foreign-commit', message: 'theirs', next: 'Ask.' },
    ])
    await expect(engine.control.rollBack(id, { of })).rejects.toMatchObject({
      code: 'publication/foreign-commit',
    })
    expect(await work(engine)).toBe('clean')
  })

  test('EN-631 variables go back with a checkpoint', async (context) => {
    const { engine, store } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf(CHAIN), START)
    const { variables } = openCore({ store })
    const read = () => variables.list(executionId(id), 'shared')
    await engine.control.setVariable(id, 'kept', 1)
    await workTimes(engine, 1)
    await engine.control.setVariable(id, 'kept', 2)
    await engine.control.setVariable(id, 'later', true)
    await workTimes(engine, 1)
    const [, { checkpointId } = { checkpointId: '' }] = await engine.control.listCheckpoints(id)
    await engine.control.rollBack(id, { of: { level: 'checkpoint', checkpointId } })
    expect(await read()).toEqual({ 'shared.kept': 1 })
  })

  test('EN-632 an engine without a repository rolls back what has published nothing, and refuses the rest', async (context) => {
    const { engine, open } = await setUp(kind, context)
    await engine.close()
    const second = await open({ data: undefined } as never)
    const id = await second.control.startGraph(graphOf(CHAIN), START)
    await workTimes(second, 1)
    await expect(second.control.rollBack(id, { of: { level: 'execution' } })).rejects.toMatchObject({
      code: 'engine/no-data-rollback',
    })
    const plain = await second.control.startGraph(graphOf([unitOf('a'), unitOf('b', ['a'])]), {})
    await second.control.pause(id)
    const [a] = (await poll(second)).filter(({ workflowId }) => workflowId === plain)
    await post(second, a!)
    await second.control.rollBack(plain, { of: { level: 'unit', unit: 'a' } })
    const [again] = (await poll(second)).filter(({ workflowId }) => workflowId === plain)
    expect(again?.referenceTaskName).toBe('a')
  })

  test('EN-633 old checkpoints of open and of ended executions are removed in time, the last good one stays', async (context) => {
    const { engine, open } = await setUp(kind, context)
    const ids = [
      await engine.control.startGraph(graphOf(CHAIN), START),
      await engine.control.startGraph(graphOf([unitOf('only')]), {}),
    ] as const
    for (const task of await poll(engine)) await post(engine, task)
    expect(await phasesOf(engine, ids[0])).toHaveLength(2)
    expect(await phasesOf(engine, ids[1])).toHaveLength(2)
    await engine.close()
    const second = await open({ limits: { retentionMs: 1 }, maintenanceMs: 20 })
    await expect.poll(() => phasesOf(second, ids[0])).toEqual(['in'])
    await expect.poll(() => phasesOf(second, ids[1])).toEqual([])
  })

  const recovering = (back: Recovery['back'], times = 1): Graph =>
    graphOf([...CHAIN.slice(0, 2), unitOf('check', ['clean'], { phase: 'work' })], {
      policy: { onFailure: 'fail', attempts: 1, recover: { back, times } },
    })
  const failCheck = async (engine: Engine): Promise<void> => {
    await workTimes(engine, 2)
    const [check] = await poll(engine)
    expect(check?.referenceTaskName).toBe('check')
    await post(engine, check!, {}, 'FAILED')
  }

  test('X-81 X-108 a failed unit takes its phase back where the policy says so, with its data', async (context) => {
    const { engine, data } = await setUp(kind, context)
    const id = await engine.control.startGraph(recovering('phase'), START)
    await failCheck(engine)
    const [clean] = await poll(engine, 2_000)
    expect(clean?.referenceTaskName).toBe('clean')
    expect(data.moved).toMatchObject([{ expectedHead: commitOf('clean'), to: commitOf('load') }])
    await post(engine, clean!, { workspace: workspaceAt(commitOf('clean')) })
    await workTimes(engine, 1)
    const ended = await engine.control.readExecution(id)
    expect(ended).toMatchObject({ status: 'COMPLETED', rollbacks: [{ recovery: 'done' }] })
    expect(ended?.rollbacks[0]).toMatchObject({ undone: ['clean', 'check'], reason: 'unit "check" failed' })
  })

  test('X-108 a failed unit is judged by its policy, and the state of the last good checkpoint is restored', async (context) => {
    const { engine, store } = await setUp(kind, context)
    const id = await engine.control.startGraph(recovering('checkpoint'), START)
    await workTimes(engine, 1)
    await engine.control.setVariable(id, 'later', true)
    await workTimes(engine, 1)
    const [check] = await poll(engine)
    await post(engine, check!, {}, 'FAILED')
    const [clean] = await poll(engine, 2_000)
    expect(clean?.referenceTaskName).toBe('clean')
    expect(await openCore({ store }).variables.list(executionId(id), 'shared')).toEqual({})
  })

  test('EN-634 it is taken back as often as its policy says; the next failure counts', async (context) => {
    const { engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(recovering('unit', 2), START)
    await failCheck(engine)
    for (let again = 0; again < 2; again += 1) {
      const [check] = await poll(engine, 2_000)
      expect(check?.referenceTaskName).toBe('check')
      await post(engine, check!, {}, 'FAILED')
    }
    expect((await engine.control.readExecution(id))?.status).toBe('FAILED')
  })

  test('EN-634 what cannot be taken back fails as it would without, and says why', async (context) => {
    const { engine, data } = await setUp(kind, context)
    data.onCheck = () => Promise.reject(new RefusedError('publication/foreign-commit', 'theirs'))
    const id = await engine.control.startGraph(recovering('phase'), START)
    await failCheck(engine)
    const read = () => engine.control.readExecution(id)
    await expect.poll(async () => (await read())?.status).toBe('FAILED')
    expect((await read())?.rollbacks).toMatchObject([
      { recovery: 'refused', notUndone: [{ unit: 'check', why: 'theirs' }] },
    ])
    expect(data.moved).toEqual([])
  })

  test('EN-634 an engine that takes over takes it back', async (context) => {
    const { engine, data, open } = await setUp(kind, context)
    data.onCheck = () => Promise.reject(new UnavailableError('test/down', 'no repository'))
    await engine.control.startGraph(recovering('phase'), START)
    await failCheck(engine)
    await engine.close()
    data.onCheck = () => Promise.resolve()
    expect(await work(await open())).toBe('clean')
  })
})
