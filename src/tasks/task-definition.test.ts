// Goal: what an author declares is checked at once, in full, and reaches the task queue as it was meant.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { OWNER } from '../../test/support/worker/world.ts'
import { buildTaskDef } from './build-taskdef.ts'
import { loadTasks } from '../worker/bodies/load-tasks.ts'
import { DEFAULT_CONTROLS, judgeBudget, readControls } from './task-controls.ts'
import {
  defineCommandTask,
  defineTask,
  defineWorkspaceTask,
  isTaskDefinition,
  readWith,
} from './task-definition.ts'
import { defineWorkflow } from './workflow-definition.ts'
import { readTaskInput } from '../worker/attempt/task-input.ts'

const problemsOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return (error as { details: { problems: unknown } }).details.problems
  }
  throw new Error('it was taken')
}
const any = { params: z.any(), result: z.any(), body: () => null }

describe('declarations', () => {
  test('WK-01 a name or an owner that will not do is refused, both at once', () => {
    const problems = problemsOf(() => defineTask({ ...any, name: 'a b', owner: 'nobody' })) as string[]
    expect(problems).toHaveLength(2)
    expect(problems[0]).toContain('"a b"')
  })

  test('WK-01 a workspace task that says nothing of its workspace has all of the branch', () => {
    const task = defineWorkspaceTask({ ...any, name: 'orders.clean', owner: OWNER, body: () => ({}) })
    expect(task.workspace).toEqual({})
    expect(buildTaskDef(task).inputKeys).toContain('workspace')
  })

  test('WK-01 a task is known as one, whichever copy of the package declared it', () => {
    const task = defineTask({ ...any, name: 'a', owner: OWNER })
    expect(isTaskDefinition(task)).toBe(true)
    expect(isTaskDefinition({ ...task })).toBe(true)
    expect([{}, null, 'a', { name: 'a' }].map(isTaskDefinition)).toEqual([false, false, false, false])
  })

  test('WK-02 every problem of the parameters is named, with its place', async () => {
    const schema = z.object({ day: z.string(), deep: z.array(z.object({ n: z.int() })) })
    await expect(
      readWith(schema, { deep: [{ n: 1 }, { n: 0.5 }] }, { task: 't', side: 'params' }),
    ).rejects.toMatchObject({
      code: 'worker/invalid-params',
      details: { problems: [{ path: 'day' }, { path: 'deep.1.n' }] },
    })
  })
})

describe('controls', () => {
  test('WK-03 unless told, a lease of a minute, three retries with growing delays, and a budget that fits', () => {
    expect(DEFAULT_CONTROLS).toMatchObject({
      retry: {
        count: 3,
        logic: 'EXPONENTIAL_BACKOFF',
        delaySeconds: 5,
        maxDelaySeconds: 120,
        jitterMs: 2_000,
      },
      timeout: { policy: 'RETRY', responseSeconds: 60, runSeconds: 0, totalSeconds: 0, pollSeconds: 0 },
      replace: 'any',
      whilePaused: 'go-on',
    })
    expect(judgeBudget(DEFAULT_CONTROLS.publishBudget, DEFAULT_CONTROLS.timeout.responseSeconds)).toEqual([])
  })

  test('WK-03 what the server would refuse is refused here, with every problem at once', () => {
    const problems = problemsOf(() =>
      readControls({ retry: { count: 11 }, timeout: { runSeconds: 30 }, limits: { concurrent: 0 } }, 't'),
    ) as string[]
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(
      expect.arrayContaining(['retry.count', 'limits.concurrent']),
    )
    expect(problemsOf(() => readControls({ timeout: { runSeconds: 30 } }, 't'))).toHaveLength(1)
  })

  const budget = { publishSeconds: 20, completionSeconds: 5, heartbeatSeconds: 20, shutdownGraceSeconds: 5 }

  test('F-60 a sum that is not below the response timeout is refused', () => {
    expect(
      problemsOf(() => readControls({ timeout: { responseSeconds: 50 }, publishBudget: budget }, 't')),
    ).toEqual([
      expect.stringContaining(
        'the sum of its parts is 50 s, which must be less than the response timeout of 50 s',
      ),
    ])
    expect(
      readControls({ timeout: { responseSeconds: 51 }, publishBudget: budget }, 't').publishBudget,
    ).toEqual({
      ...budget,
      totalSeconds: 50,
    })
  })

  test('F-60 a budget below the sum of its parts is refused', () => {
    const read = (totalSeconds: number): unknown =>
      readControls({ publishBudget: { ...budget, totalSeconds } }, 't')
    expect(problemsOf(() => read(49))).toEqual([
      expect.stringContaining('totalSeconds is 49, less than the sum of its parts, 50 s'),
    ])
    expect(read(50)).toMatchObject({ publishBudget: { totalSeconds: 50 } })
  })
})

describe('a module without types', () => {
  const declared = {
    name: 'orders.clean',
    owner: 'data@example.org',
    params: z.object({}),
    result: z.object({}),
  }
  const body = (): object => ({})
  const asLoaded = (declare: (input: never) => unknown, input: object): unknown =>
    problemsOf(() => declare({ ...declared, ...input } as never))

  test.each([
    [
      defineWorkspaceTask,
      { body, workspace: { posts: [] } },
      ['workspace.posts is not known; did you mean "post"?'],
    ],
    [defineWorkspaceTask, { body, runin: 'thread' }, ['runin is not known; did you mean "runIn"?']],
    [defineWorkspaceTask, { body, retries: 3 }, ['retries is not known']],
    [
      defineWorkspaceTask,
      { body, runIn: 'Thread' },
      ['runIn "Thread": must be "inline", "thread" or "process"'],
    ],
    [defineTask, { body, workspace: {} }, ['workspace is not known']],
    [defineTask, { body: undefined, params: {} }, ['body must be a function', 'params must be a Zod schema']],
    [defineCommandTask, { command: ['x'], enviroment: {} }, ['enviroment is not known']],
    [
      defineCommandTask,
      { command: ['x'], workspace: { inclued: [] } },
      ['workspace.inclued is not known; did you mean "include"?'],
    ],
  ] as const)('WK-275 a key that %o does not know is refused: %o', (declare, input, problems) => {
    expect(asLoaded(declare, input)).toEqual(problems)
  })

  test('WK-275 a key of the controls is refused with its path, at any depth', () => {
    const read = (controls: unknown): unknown => problemsOf(() => readControls(controls as never, 't'))
    expect(read({ retrys: {} })).toEqual(['retrys is not known; did you mean "retry"?'])
    expect(read({ retry: { counts: 1 } })).toEqual(['retry.counts is not known; did you mean "count"?'])
    expect(read({ limits: { rate: { count: 1, perSeconds: 1, per: 1 } } })).toEqual([
      'limits.rate.per is not known',
    ])
  })

  test('WK-275 a key of a workflow is refused', () => {
    const input = {
      name: 'w',
      owner: 'data@example.org',
      step: [],
      steps: [{ name: 'x', taskReferenceName: 'x' }],
    }
    expect(problemsOf(() => defineWorkflow(input as never))).toEqual([
      'step is not known; did you mean "steps"?',
    ])
  })
})

describe('input', () => {
  test('WK-05 every problem is named at once', () => {
    const problems = problemsOf(() =>
      readTaskInput(
        { workspace: { repository: 'X', branch: 7, ref: 'abc', refType: 'branch', extra: 1 } },
        { workspace: true },
      ),
    ) as string[]
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'params',
      'workspace.extra',
      'workspace.refType',
      'workspace.repository',
      'workspace.branch',
      'workspace.ref',
    ])
  })

  test.each([
    [
      'main',
      'branch',
      /"main" is not a commit id/,
      /--repo lake --branch main" reads .*lakefs:\/\/lake\/main"/,
    ],
    [
      '0123abcd',
      'commit',
      /"0123abcd" is only a part of a commit id/,
      /--ref 0123abcd" .*lakefs:\/\/lake\/0123abcd"/,
    ],
    ['main~1', 'commit', /"main~1" is not a commit id/, /--ref main~1"/],
    [undefined, 'branch', /must be "commit", not "branch"; workspace\.ref: missing/, /--branch main" reads/],
    ['$(rm x)', 'commit', /is not a commit id/, /^Correct inputParameters/],
    ['..', 'commit', /is not a commit id/, /^Correct inputParameters/],
  ])(
    'WK-288 a ref %j of type %s is refused with the command that gives the commit id',
    (ref, refType, said, next) => {
      const workspace = { repository: 'lake', branch: 'main', refType, ...(ref !== undefined && { ref }) }
      const read = (): unknown => readTaskInput({ workspace, params: {} }, { workspace: true })
      expect(read).toThrow(said)
      expect(read).toThrow(
        expect.objectContaining({
          code: 'worker/invalid-input',
          next: expect.stringMatching(next) as string,
        }),
      )
    },
  )

  test('WK-05 both spellings at once, or none, are refused; fields beside workspace and params are left alone', () => {
    const workspace = { repository: 'data', branch: 'main', ref: 'a'.repeat(64) }
    const read = (extra: object): unknown =>
      readTaskInput({ workspace: { ...workspace, ...extra }, params: null, other: 1 }, { workspace: true })
    expect(problemsOf(() => read({ refType: 'commit', ref_type: 'commit' }))).toHaveLength(1)
    expect(problemsOf(() => read({}))).toHaveLength(1)
    expect(read({ refType: 'commit' })).toEqual({
      workspace: { ...workspace, spelling: 'refType' },
      params: null,
    })
  })
})

describe('the TaskDef', () => {
  test('WK-06 it carries every control, and the schemas of input and output', () => {
    const task = defineWorkspaceTask({
      ...any,
      name: 'orders.clean',
      description: 'Cleans orders.',
      owner: OWNER,
      params: z.object({ day: z.iso.date(), limit: z.int().default(10) }),
      result: z.object({ rows: z.int() }),
      workspace: { prefix: 'orders' },
      controls: {
        limits: { concurrent: 2, rate: { count: 5, perSeconds: 60 } },
        timeout: { pollSeconds: 30 },
      },
      body: () => ({ rows: 0 }),
    })
    const def = buildTaskDef(task)
    expect(def).toMatchObject({
      name: 'orders.clean',
      description: 'Cleans orders.',
      ownerEmail: OWNER,
      retryCount: 3,
      timeoutPolicy: 'RETRY',
      timeoutSeconds: 0,
      responseTimeoutSeconds: 60,
      pollTimeoutSeconds: 30,
      concurrentExecLimit: 2,
      rateLimitPerFrequency: 5,
      rateLimitFrequencyInSeconds: 60,
      inputKeys: ['workspace', 'params'],
      outputKeys: ['workspace', 'result'],
    })
    const params = (def.inputSchema.data['properties'] as { params: object }).params
    // A default need not be given.
    expect(params).toMatchObject({ type: 'object', required: ['day'] })
    expect(JSON.stringify(def)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })

  test('WK-06 what was not asked for is not sent: a poll timeout would burn retries', () => {
    const def = buildTaskDef(defineTask({ ...any, name: 'a', owner: OWNER }))
    expect(Object.keys(def)).not.toEqual(expect.arrayContaining(['pollTimeoutSeconds']))
    expect(def).not.toHaveProperty('concurrentExecLimit')
    expect(def.inputKeys).toEqual(['params'])
  })

  test('WK-06 a schema that no JSON Schema can say is refused', () => {
    const task = defineTask({ ...any, name: 'a', owner: OWNER, params: z.object({ at: z.date() }) })
    expect(() => buildTaskDef(task)).toThrow(
      expect.objectContaining({ code: 'worker/schema-not-expressible' }),
    )
  })
})

describe('modules', () => {
  async function moduleOf(name: string, text: string): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'perago-module-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  }
  const task = (name: string): string => `{ [Symbol.for('perago.task')]: true, name: '${name}' }`

  test.each(['tasks.ts', 'tasks.js', 'tasks.mjs'])(
    'WK-07 the tasks of %s are those it exports, once each',
    async (name) => {
      const typed = name.endsWith('.ts') ? ': unknown' : ''
      const path = await moduleOf(
        name,
        `export const a${typed} = ${task('a')}\nexport const again = a\nexport const b = ${task('b')}\nexport const c = 1`,
      )
      expect((await loadTasks(path)).map((loaded) => loaded.name).sort()).toEqual(['a', 'b'])
    },
  )

  test.each([
    ['worker/no-tasks', 'export const a = 1'],
    ['worker/task-twice', `export const a = ${task('a')}\nexport const b = ${task('a')}`],
    ['worker/module-failed', 'throw new Error("broken")'],
  ])('WK-07 %s', async (code, text) => {
    await expect(loadTasks(await moduleOf('tasks.mjs', text))).rejects.toMatchObject({ code })
  })

  test('WK-07 a module that is not there', async () => {
    await expect(loadTasks('no-such-tasks.ts')).rejects.toMatchObject({ code: 'worker/no-module' })
  })
})
