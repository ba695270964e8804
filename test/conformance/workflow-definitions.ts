// Goal: a workflow definition runs on our engine as it runs on Conductor.
// Method: the same definitions run to their end on each implementation, with a worker that answers by rules of the case; what
// became of every task is compared with what a real server has shown.
import { randomUUID } from 'node:crypto'
import { describe, expect, test, type TestContext } from 'vitest'
import { errorKindOf } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { WorkflowView } from '../../src/engine/protocol/control.ts'
import type { TaskRecord } from '../../src/worker/ports.ts'
import type { QueueScene } from './task-queue.ts'

type Task = JsonObject

interface Case {
  readonly title: string
  readonly tasks: readonly Task[]
  /** Another definition, which is registered first. */
  readonly child?: readonly Task[]
  readonly input?: JsonObject
  readonly outputParameters?: JsonObject
  /** What the worker answers to a task; by default its input. */
  readonly answer?: (task: TaskRecord) => { readonly status?: 'FAILED'; readonly output: JsonObject }
  readonly status: WorkflowView['status']
  readonly output: JsonObject
  /** Reference names and statuses, in the order in which they were scheduled; tasks that Conductor polls itself at the end. */
  readonly history: readonly string[]
}

const work = (ref: string, inputParameters: JsonObject = {}, more: JsonObject = {}): Task => ({
  ...{ name: 'WORK', taskReferenceName: ref, type: 'SIMPLE', inputParameters },
  ...more,
})
const of = (type: string, ref: string, inputParameters: JsonObject = {}, more: JsonObject = {}): Task => ({
  ...{ name: ref, taskReferenceName: ref, type, inputParameters },
  ...more,
})
const fork = (...forkTasks: Task[][]): Task => of('FORK_JOIN', 'f', {}, { forkTasks })
const join = (...joinOn: string[]): Task => of('JOIN', 'j', {}, { joinOn, joinMode: 'SYNC' })
const choose = (decisionCases: JsonObject, defaultCase: Task[]): Task =>
  of(
    'SWITCH',
    's',
    { k: '${workflow.input.k}' },
    { evaluatorType: 'value-param', expression: 'k', decisionCases, defaultCase },
  )

const switched = [
  choose({ a: [work('a')], empty: [] }, [work('d')]),
  work('z', { s: '${s.output.selectedCase}' }),
]

const CASES: readonly Case[] = [
  {
    title: 'branches are joined with their outputs',
    tasks: [
      fork([work('a', { n: 1 })], [work('b', { n: 2 })]),
      join('a', 'b'),
      work('z', { got: '${j.output}' }),
    ],
    status: 'COMPLETED',
    output: { got: { a: { n: 1 }, b: { n: 2 } } },
    history: [
      'f COMPLETED {}',
      'a COMPLETED {"n":1}',
      'b COMPLETED {"n":2}',
      'z COMPLETED {"got":{"a":{"n":1},"b":{"n":2}}}',
      'j COMPLETED {"a":{"n":1},"b":{"n":2}}',
    ],
  },
  {
    title: 'a failed optional branch completes its join with errors',
    tasks: [fork([work('a', {}, { optional: true })], [work('b')]), join('a', 'b'), work('z')],
    answer: ({ referenceTaskName }) =>
      referenceTaskName === 'a' ? { status: 'FAILED', output: { left: 1 } } : { output: {} },
    status: 'COMPLETED',
    output: {},
    history: [
      'f COMPLETED {}',
      'a COMPLETED_WITH_ERRORS {"left":1}',
      'b COMPLETED {}',
      'z COMPLETED {}',
      'j COMPLETED_WITH_ERRORS {"a":{"left":1}}',
    ],
  },
  {
    title: 'a switch runs the chosen case, then what follows',
    tasks: switched,
    input: { k: 'a' },
    status: 'COMPLETED',
    output: { s: 'a' },
    history: [
      's COMPLETED {"evaluationResult":["a"],"selectedCase":"a"}',
      'a COMPLETED {}',
      'z COMPLETED {"s":"a"}',
    ],
  },
  {
    title: 'a switch without a fitting case runs the default',
    tasks: switched,
    input: { k: 7 },
    status: 'COMPLETED',
    output: { s: '7' },
    history: [
      's COMPLETED {"evaluationResult":["7"],"selectedCase":"7"}',
      'd COMPLETED {}',
      'z COMPLETED {"s":"7"}',
    ],
  },
  {
    title: 'a case without tasks goes straight on',
    tasks: switched,
    input: { k: 'empty' },
    status: 'COMPLETED',
    output: { s: 'empty' },
    history: [
      's COMPLETED {"evaluationResult":["empty"],"selectedCase":"empty"}',
      'z COMPLETED {"s":"empty"}',
    ],
  },
  {
    title: 'a loop repeats while its condition holds',
    tasks: [
      of(
        'DO_WHILE',
        'l',
        { max: '${workflow.input.max}' },
        {
          loopCondition: "if ($.l['iteration'] < $.max && $.a['stop'] != true) { true; } else { false; }",
          loopOver: [work('a', { it: '${l.output.iteration}' })],
        },
      ),
      work('z', { last: '${a.output.it}' }),
    ],
    input: { max: 2 },
    status: 'COMPLETED',
    output: { last: 2 },
    history: [
      'l COMPLETED {"1":{"a":{"it":1}},"2":{"a":{"it":2}},"iteration":2}',
      'a__1 COMPLETED {"it":1}',
      'a__2 COMPLETED {"it":2}',
      'z COMPLETED {"last":2}',
    ],
  },
  {
    title: 'a child gives its output',
    child: [work('inner', { x: '${workflow.input.x}' })],
    tasks: [
      of('SUB_WORKFLOW', 'c', { x: 5 }, { subWorkflowParam: { name: 'CHILD', version: 1 } }),
      work('z', { got: '${c.output.x}' }),
    ],
    status: 'COMPLETED',
    output: { got: 5 },
    history: ['c COMPLETED {"subWorkflowId":"<id>","x":5}', 'z COMPLETED {"got":5}'],
  },
  {
    title: 'a termination cancels what is open and gives the output',
    tasks: [
      work('first'),
      fork(
        [work('open')],
        [of('TERMINATE', 't', { terminationStatus: 'FAILED', workflowOutput: { r: '${workflow.input.r}' } })],
      ),
      join('open', 't'),
    ],
    input: { r: 'why' },
    outputParameters: { never: 1 },
    status: 'FAILED',
    output: { r: 'why' },
    history: ['first COMPLETED {}', 'f COMPLETED {}', 'open CANCELED {}', 't COMPLETED {"r":"why"}'],
  },
  {
    title: 'variables are set, and a wait ends by its time',
    tasks: [
      of('SET_VARIABLE', 'v', { x: '${workflow.input.x}' }),
      of('WAIT', 'w', { duration: '1 seconds' }),
      work('z', { x: '${workflow.variables.x}' }),
    ],
    input: { x: 3 },
    status: 'COMPLETED',
    output: { x: 3 },
    history: ['v COMPLETED {}', 'w COMPLETED {}', 'z COMPLETED {"x":3}'],
  },
  {
    title: 'a switch in a branch is joined by a task after it',
    tasks: [fork([choose({ a: [work('a')] }, []), of('NOOP', 'n')], [work('b')]), join('n', 'b'), work('z')],
    input: { k: 'a' },
    status: 'COMPLETED',
    output: {},
    history: [
      'f COMPLETED {}',
      's COMPLETED {"evaluationResult":["a"],"selectedCase":"a"}',
      'a COMPLETED {}',
      'b COMPLETED {}',
      'n COMPLETED {}',
      'z COMPLETED {}',
      'j COMPLETED {}',
    ],
  },
]

/** Empty polls before a case counts as stuck. */
const POLLS_MAX = 600
const POLL_MS = 100
/** The first script of a Conductor that has just started takes long. */
const CASE_MS = 120_000

export function workflowDefinitionConformance(
  name: string,
  { open }: { readonly open: (context: TestContext) => Promise<QueueScene> },
): void {
  describe(`${name} runs workflow definitions`, () => {
    test.for(CASES)('EN-571 $title', { timeout: CASE_MS }, async (scenario, context) => {
      const scene = await open(context)
      try {
        const view = await run(scene, scenario)
        expect({ status: view.status, output: view.output, history: historyOf(view) }).toEqual({
          status: scenario.status,
          output: scenario.output,
          history: scenario.history,
        })
      } finally {
        await scene.close()
      }
    })
  })
}

async function run(scene: QueueScene, scenario: Case): Promise<WorkflowView> {
  const { queue, control } = scene
  const prefix = `co_${randomUUID().slice(0, 8)}`
  const [taskType, child, workflow] = [`${prefix}_t`, `${prefix}_c`, `${prefix}_w`]
  const named = (tasks: readonly Task[]): readonly Task[] =>
    JSON.parse(
      JSON.stringify(tasks).replaceAll('"WORK"', `"${taskType}"`).replaceAll('"CHILD"', `"${child}"`),
    ) as Task[]
  const { outputParameters = {} } = scenario
  await control.registerTask({
    name: taskType,
    retryCount: 0,
    responseTimeoutSeconds: 600,
    timeoutPolicy: 'RETRY',
  })
  if (scenario.child !== undefined)
    await control.registerWorkflow({ name: child, version: 1, tasks: named(scenario.child) })
  await control.registerWorkflow({
    name: workflow,
    version: 1,
    tasks: named(scenario.tasks),
    outputParameters,
  })
  const workflowId = await control.start({ name: workflow, input: scenario.input ?? {} })
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const view = await control.readWorkflow(workflowId)
    if (view === undefined) throw new Error('the workflow is gone')
    if (view.status !== 'RUNNING') return view
    const [task] = await scene.settle(queue.poll({ taskType, workerId: 'w', count: 1, waitMs: POLL_MS }))
    if (task !== undefined) await scene.settle(answer(scene, task, scenario)).catch(readOn)
  }
  throw new Error(`"${scenario.title}" did not end`)
}

/** While Conductor loads its engine for scripts, it lets a result wait for longer than the client does. */
function readOn(error: unknown): void {
  if (errorKindOf(error) !== 'uncertain') throw error
}

async function answer({ queue }: QueueScene, task: TaskRecord, { answer: rule }: Case): Promise<void> {
  const { taskId, workflowId, workerId } = task
  const { status = 'COMPLETED', output } = rule?.(task) ?? { output: task.input }
  await queue.postResult({ taskId, workflowId, workerId, status, output })
}

/** Without what the engine skipped: a task of a case that was not chosen has no record in Conductor. */
function historyOf({ tasks, status }: WorkflowView): readonly string[] {
  const seen = [...tasks]
    .sort((one, other) => one.seq - other.seq)
    .filter((task) => task.status !== 'SKIPPED')
  const isJoin = ({ taskType }: TaskRecord): boolean => taskType === 'JOIN'
  // Conductor schedules a JOIN together with its FORK_JOIN; what becomes of one that is not reached depends on the moment.
  const joins = status === 'COMPLETED' ? seen.filter(isJoin) : []
  return [...seen.filter((task) => !isJoin(task)), ...joins].map(
    (task) => `${task.referenceTaskName} ${task.status} ${print(task)}`,
  )
}

function print({ output, taskType }: TaskRecord): string {
  const shown = 'subWorkflowId' in output ? { ...output, subWorkflowId: '<id>' } : output
  // Conductor adds times and notes of its own to some of the tasks that no worker runs.
  const own = ['WAIT', 'SET_VARIABLE', 'NOOP', 'FORK'].includes(taskType) ? {} : shown
  return JSON.stringify(
    Object.fromEntries(Object.entries(own).sort(([one], [other]) => (one < other ? -1 : 1))),
  )
}
