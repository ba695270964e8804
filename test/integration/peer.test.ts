// Goal: workers of the Python package 0.6.1 and ours work in one workflow, on a real Conductor and over one lakeFS API.
// Method: the package is installed as its users install it, and nothing of it is imitated. Each test has a server, a
// repository and directories of its own. `npm run build` comes first.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { createDefinitionRegistry } from '../../src/conductor/definitions.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import { verify } from '../../src/recovery/verify.ts'
import { openConductor } from '../../src/runtime/connections/conductor-connection.ts'
import { withRecovery } from '../../src/runtime/open-recovery.ts'
import { declaredTaskDef, examineRegistration } from '../../src/runtime/modules/task-registration.ts'
import type { WorkflowView } from '../../src/engine/protocol/control.ts'
import { buildTaskDef } from '../../src/tasks/build-taskdef.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import type { TaskRecord } from '../../src/worker/ports.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { TaskDefinition } from '../../src/tasks/task-definition.ts'
import { askPeer, extractTaskDef, usePeer, type Peer } from '../support/peer/peer.ts'
import {
  DECLARED_PATH,
  MAIN,
  openInteropWorld,
  TASKS_PATH,
  until,
  type InteropWorld,
} from '../support/peer/world.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { askJson } from '../support/servers/http.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'

const TEST_MS = 150_000
const conductor = useRealServer('conductor')
const installed = usePeer()

let lakefs: SuiteLakefs
let world: InteropWorld
let conductorUrl: string
let peer: Peer

beforeAll(async () => {
  lakefs = await openSuiteLakefs()
}, TEST_MS)
afterAll(() => lakefs.close())
beforeEach(async (context) => {
  peer = installed(context)
  conductorUrl = conductor(context).url
  world = await openInteropWorld(conductorUrl, lakefs)
}, TEST_MS)
afterEach(() => world.close(), TEST_MS)

async function register(...definitions: readonly object[]): Promise<void> {
  const { status, body } = await askJson(`${conductorUrl}/api/metadata/taskdefs`, { body: definitions })
  if (status >= 400) throw new Error(`register: ${status} ${JSON.stringify(body)}`)
}

async function registerOurs(): Promise<void> {
  await register(...(await loadTasks(TASKS_PATH)).map(declaredTaskDef))
}

async function registerTheirs(): Promise<Record<string, unknown>> {
  const definition = await extractTaskDef(peer, await world.settingsOf('interop_python'))
  await register(definition)
  return definition
}

const at = (ref: CommitRef | undefined, branch = 'main'): JsonObject => ({
  ...{ repository: world.repository, branch, refType: 'commit' },
  ref: ref ?? '?',
})

/** The commits above the input, oldest first. */
async function publishedOn(branch = MAIN): Promise<CommitRef[]> {
  const refs = (await logOf(world.repo, branch)).map(({ ref }) => ref)
  const input = refs.indexOf(world.inputRef)
  if (input < 0) throw new Error('the branch has lost its input')
  return refs.slice(0, input).toReversed()
}

const isPython = ({ workerId }: TaskRecord): boolean => workerId.startsWith('python')
const attemptsOf = ({ tasks }: WorkflowView): (readonly [string, string])[] =>
  tasks.map((task) => [isPython(task) ? 'Python' : 'ours', task.status])

describe('one workflow, step by step on either side', { timeout: TEST_MS }, () => {
  async function openBoth(): Promise<void> {
    await registerOurs()
    await registerTheirs()
    await world.startPython(peer, 'interop_python')
    await world.openOurs()
  }

  /** The statuses of a task of each side that runs alone with these parameters. */
  async function endingsOnBothSides(
    params: JsonObject,
    to: { branch?: string; ref?: CommitRef } = {},
  ): Promise<readonly (readonly string[])[]> {
    const run = async (task: string): Promise<string[]> => {
      const branch = branchName(`${task}-${JSON.stringify(params)}`.replaceAll(/[^a-z_]+/g, '-'))
      if (to.branch === undefined) await world.repo.createBranch({ branch, from: world.inputRef })
      await world.registerChain(`once_${task}`, [task])
      const id = await world.start(`once_${task}`, { params: [{ line: 'x', ...params }], branch, ...to })
      return (await world.ended(id)).tasks.map(({ status }) => status)
    }
    return Promise.all(['interop_ts', 'interop_python'].map(run))
  }

  async function commitOn(name: string, path: string): Promise<{ branch: BranchName; ref: CommitRef }> {
    const branch = branchName(name)
    if ((await world.repo.readBranch(branch)) === undefined)
      await world.repo.createBranch({ branch, from: world.inputRef })
    await world.repo.deleteObjects(branch, [path])
    const outcome = await world.repo.commit({ branch, message: `Without ${path}` })
    if (!outcome.committed) throw new Error(outcome.reason)
    return { branch, ref: outcome.commit.ref }
  }

  test('IO-01 RE-26 tasks of both sides alternate, and each publishes on what the other has published', async () => {
    await openBoth()
    await world.registerChain('together', ['interop_ts', 'interop_python', 'interop_ts', 'interop_python'])
    const lines = ['a', 'b', 'c', 'd']
    const workflow = await world.start('together', {
      params: lines.map((line, index) => ({
        line,
        ...(line === 'd' ? { file: 'new.txt' } : {}),
        note: String(index),
      })),
    })
    const view = await world.ended(workflow)
    expect(attemptsOf(view)).toEqual([
      ['ours', 'COMPLETED'],
      ['Python', 'COMPLETED'],
      ['ours', 'COMPLETED'],
      ['Python', 'COMPLETED'],
    ])
    const published = await publishedOn()
    expect(published).toHaveLength(4)
    // What either side read, and what it gave back, in the same words.
    expect(view.tasks.map(({ input: { workspace } }) => workspace)).toEqual(
      [world.inputRef, ...published.slice(0, 3)].map((ref) => at(ref)),
    )
    expect(view.tasks.map(({ output }) => output)).toEqual(
      [2, 3, 4, 1].map((count, index) => ({ workspace: at(published[index]), result: { lines: count } })),
    )
    for (const [index, ref] of published.entries())
      expect((await world.repo.readCommit(ref))?.parents).toEqual([published[index - 1] ?? world.inputRef])
    expect(await filesOf(world.repo)).toEqual({
      'elsewhere.txt': 'elsewhere',
      'shared/log.txt': 'input\na\nb\nc\n',
      'shared/new.txt': 'd\n',
    })
    await until('no staging branch is left', async () => (await stagingBranchesOf(world.repo)).length === 0)
    // Who made which commit is told afterwards.
    const options = { root: world.at('none') }
    const place = { repository: world.repository, branch: MAIN }
    const { holds, withoutFence, foreign } = await withRecovery(world.configuration, options, (recovery) =>
      verify(recovery, place),
    )
    expect([holds, foreign]).toEqual([true, [world.inputRef]])
    expect(withoutFence).toMatchObject([
      { kind: 'python', commits: 2, newest: published[3] },
      { kind: 'task', name: 'step2', commits: 1 },
      { kind: 'task', name: 'step0', commits: 1 },
    ])
  })

  test('IO-02 the same ending of a body or a guardrail leads the server to the same end', async () => {
    await openBoth()
    const noLog = await commitOn('no-log', 'shared/log.txt')
    const endings = [
      ['no change', { ending: 'idle' }, {}, ['COMPLETED']],
      ['a body that fails', { ending: 'fail' }, {}, ['FAILED', 'FAILED', 'FAILED']],
      ['a body that fails for good', { ending: 'terminal' }, {}, ['FAILED_WITH_TERMINAL_ERROR']],
      ['a guardrail after it', { ending: 'post' }, {}, ['FAILED', 'FAILED', 'FAILED']],
      ['a guardrail before it', {}, noLog, ['FAILED_WITH_TERMINAL_ERROR']],
    ] as const
    const told = await Promise.all(
      endings.map(async ([name, params, to]) => [name, ...(await endingsOnBothSides(params, to))]),
    )
    expect(told).toEqual(endings.map(([name, , , statuses]) => [name, statuses, statuses]))
  })

  test('IO-03 ours does not retry wrong parameters or a moved branch, and the Python package does', async () => {
    await openBoth()
    await commitOn('moved', 'shared/log.txt')
    const moved = await commitOn('moved', 'elsewhere.txt')
    const differences = [
      ['parameters that are wrong', { ending: 'dance' }, {}],
      ['a branch that moved on', {}, { branch: moved.branch }],
    ] as const
    const told = await Promise.all(
      differences.map(async ([name, params, to]) => [name, ...(await endingsOnBothSides(params, to))]),
    )
    expect(told).toEqual(
      differences.map(([name]) => [name, ['FAILED_WITH_TERMINAL_ERROR'], ['FAILED', 'FAILED', 'FAILED']]),
    )
    expect((await world.repo.readBranch(moved.branch))?.head).toBe(moved.ref)
  })
})

describe('definitions', { timeout: TEST_MS }, () => {
  async function examine(
    task: TaskDefinition,
  ): Promise<{ drift: readonly string[]; problems: readonly string[] }> {
    const client = openConductor(world.configuration, { logger: silentLogger })
    onTestFinished(() => client.close())
    const [found] = await examineRegistration(createDefinitionRegistry(client), [task])
    return { drift: found?.drift ?? ['?'], problems: found?.problems ?? ['?'] }
  }

  test('IO-04 what the Python package registers is what we would declare, and what differs is named', async () => {
    const [task] = await loadTasks(DECLARED_PATH)
    if (task === undefined) throw new Error('no task')
    const theirs = await registerTheirs()
    expect(await examine(task)).toEqual({ drift: [], problems: [] })
    await register({ ...theirs, retryCount: 7 })
    expect(await examine(task)).toEqual({ drift: ['retryCount is 7 there and 2 here'], problems: [] })
    // Schemas in two spellings of one meaning.
    const ours = buildTaskDef(task)
    expect(canonical(theirs['inputSchema'])).toEqual(canonical(ours.inputSchema))
    expect(canonical(theirs['outputSchema'])).toEqual(canonical(ours.outputSchema))
  })
})

describe('a worker that dies, and the other side takes over', { timeout: TEST_MS }, () => {
  /** Runs when the first worker reports this of its task; the report is then lost, or arrives. */
  function when(
    status: string,
    isFrom: (workerId: string) => boolean,
    act: () => Promise<unknown>,
    then: 'pass' | 'lose',
  ): void {
    let done = false
    world.front.interfere = async ({ update }) => {
      if (done || update.status !== status || !isFrom(update.workerId ?? '')) return 'pass'
      done = true
      await act()
      return then
    }
  }

  test('IO-05 IO-07 ours takes over from Python, replaces and tags its commit, and removes its staging branch', async () => {
    await registerOurs()
    await world.registerChain('shared', ['interop_shared'])
    const running = await world.startPython(peer, 'interop_shared', world.lakefsFront.url)
    // Its first attempt fails at the commit and leaves its branch; its second publishes, and dies before reporting.
    let commits = 0
    world.lakefsFront.interfere = ({ method, path }) =>
      method === 'POST' && path.endsWith('/commits') && ++commits === 1 ? 500 : 'pass'
    let abandoned: CommitRef | undefined
    when(
      'COMPLETED',
      (workerId) => workerId.startsWith('python'),
      async () => {
        abandoned = (await publishedOn())[0]
        await running.kill()
      },
      'lose',
    )
    const workflow = await world.start('shared', { params: [{ line: 'shared' }] })
    await until('the Python worker is dead', () => abandoned !== undefined, running.output)
    expect(await stagingBranchesOf(world.repo)).toHaveLength(1)
    await world.openOurs()
    const view = await world.ended(workflow)
    expect(attemptsOf(view)).toEqual([
      ['Python', 'FAILED'],
      ['Python', 'TIMED_OUT'],
      ['ours', 'COMPLETED'],
    ])
    const [published, ...more] = await publishedOn()
    expect(more).toEqual([])
    expect(published).not.toBe(abandoned)
    expect(view.output).toEqual({ workspace: at(published), result: { lines: 2 } })
    expect(await filesOf(world.repo, branchName(evidenceTag(abandoned ?? world.inputRef)))).toMatchObject({
      'shared/log.txt': 'input\nshared\n',
    })
    await until(
      'its staging branch is removed',
      async () => (await stagingBranchesOf(world.repo)).length === 0,
    )
  })

  test('IO-06 IO-07 Python takes over from ours, and its own code removes our staging branch', async () => {
    await registerOurs()
    await world.registerChain('shared', ['interop_shared'])
    const ours = await world.spawnOurs()
    let abandoned: CommitRef | undefined
    when(
      'COMPLETED',
      (workerId) => !workerId.startsWith('python'),
      async () => {
        ours.kill()
        await ours.ended
        abandoned = (await publishedOn())[0]
      },
      'lose',
    )
    const workflow = await world.start('shared', { params: [{ line: 'shared' }] })
    await until('our worker is dead', () => abandoned !== undefined)
    const [left, ...others] = await stagingBranchesOf(world.repo)
    expect(others).toEqual([])
    await world.startPython(peer, 'interop_shared')
    const view = await world.ended(workflow)
    expect(attemptsOf(view)).toEqual([
      ['ours', 'TIMED_OUT'],
      ['Python', 'COMPLETED'],
    ])
    const [published, ...more] = await publishedOn()
    expect(more).toEqual([])
    expect(published).not.toBe(abandoned)
    expect(view.output).toEqual({ workspace: at(published), result: { lines: 2 } })
    // It removes only branches of its own attempts; by their names it recognises ours as such.
    expect(await stagingBranchesOf(world.repo)).toEqual([left])
    const first = view.tasks[0]
    const executionId = /-exec-(.+)$/.exec(left ?? '')?.[1] ?? '?'
    const settings = await world.settingsOf('interop_shared')
    const named = await askPeer(
      peer,
      settings,
      REMOVE,
      world.repository,
      JSON.stringify({ ...first, executionId }),
    )
    expect(named).toBe(left)
    expect(await stagingBranchesOf(world.repo)).toEqual([])
  })
})

/** Names the staging branch of an attempt, and removes it, with nothing but the package's own functions. */
const REMOVE = `
import json, os, sys
from pathlib import Path
from types import SimpleNamespace
from perago.config import load_runtime_config
from perago.execution import StagedWorkspace
from perago.lakefs_runtime import LakeFSWorkspaceRuntime
from perago.staging import staging_branch_name

repository, told = sys.argv[1], json.loads(sys.argv[2])
attempt = SimpleNamespace(
    workflow_instance_id=told["workflowId"],
    reference_task_name=told["referenceTaskName"],
    seq=told["seq"],
    iteration=told["iteration"],
    task_id=told["taskId"],
    retry_count=told["retryCount"],
    execution_id=told["executionId"],
)
branch = staging_branch_name(attempt)
lakefs = LakeFSWorkspaceRuntime.from_config(load_runtime_config("interop_task").lakefs)
lakefs.cleanup_staging(StagedWorkspace(repository=repository, branch=branch, commit=""))
print(branch)
`

/** One spelling for: nothing said of further fields, or that they are allowed; a text or null, as a list of types or of schemas. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const { anyOf, ...rest } = value as { readonly anyOf?: readonly { readonly type: string }[] }
  const types = anyOf?.every((option) => Object.keys(option).join() === 'type')
    ? { type: anyOf.map(({ type }) => type) }
    : anyOf && { anyOf }
  return Object.fromEntries(
    Object.entries({ ...rest, ...types })
      .filter(([name, item]) => !(name === 'additionalProperties' && item === true))
      .map(([name, item]) => [name, canonical(item)]),
  )
}
