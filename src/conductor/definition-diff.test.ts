import { describe, expect, test } from 'vitest'
import { diffTaskDef, diffWorkflowDef, type TaskDef, type WorkflowDef } from './definition-diff.ts'

/** As Conductor 3.32.3 gives back a task definition of which only the name was sent. */
const BARE_TASK = {
  createTime: 1,
  updateTime: 0,
  createdBy: '',
  name: 't',
  retryCount: 3,
  timeoutSeconds: 0,
  inputKeys: [],
  outputKeys: [],
  runtimeMetadata: [],
  timeoutPolicy: 'TIME_OUT_WF',
  retryLogic: 'FIXED',
  retryDelaySeconds: 60,
  responseTimeoutSeconds: 3600,
  inputTemplate: {},
  rateLimitPerFrequency: 0,
  rateLimitFrequencyInSeconds: 1,
  backoffScaleFactor: 1,
  maxRetryDelaySeconds: 0,
  backoffJitterMs: 0,
  totalTimeoutSeconds: 0,
  taskStatusListenerEnabled: true,
  enforceSchema: false,
} as const satisfies TaskDef & Record<string, unknown>

describe('task definitions', () => {
  test('CO-80 a bare declaration equals what the server made of it', () => {
    expect(diffTaskDef({ name: 't' }, BARE_TASK)).toEqual([])
  })

  test('CO-80 what differs is named with both values', () => {
    const declared: TaskDef = { name: 't', retryCount: 5, timeoutPolicy: 'RETRY', inputTemplate: { a: [1] } }
    expect(diffTaskDef(declared, { ...BARE_TASK, ownerEmail: 'a@example.org' })).toEqual([
      { field: 'ownerEmail', registered: 'a@example.org', declared: undefined },
      { field: 'retryCount', registered: 3, declared: 5 },
      { field: 'timeoutPolicy', registered: 'TIME_OUT_WF', declared: 'RETRY' },
      { field: 'inputTemplate', registered: {}, declared: { a: [1] } },
    ])
  })

  test('CO-110 a schema is compared by what it says, and one that is not declared not at all', () => {
    const data = { type: 'object', required: ['params'] }
    const registered = { ...BARE_TASK, inputSchema: { createTime: 0, name: 't.input', data } }
    expect(diffTaskDef({ name: 't', inputSchema: { data } }, registered)).toEqual([])
    expect(diffTaskDef({ name: 't' }, registered)).toEqual([])
    const missing = diffTaskDef({ name: 't', inputSchema: { data }, outputSchema: { data } }, registered)
    expect(missing).toEqual([{ field: 'outputSchema', registered: undefined, declared: data }])
  })

  test('CO-80 the order of keys is no difference', () => {
    const registered = { ...BARE_TASK, inputTemplate: { b: { y: 2, x: 1 }, a: 0 } }
    expect(diffTaskDef({ name: 't', inputTemplate: { a: 0, b: { x: 1, y: 2 } } }, registered)).toEqual([])
  })

  test('CO-80 a registered value that is not declared would fall back to the default, and is a change', () => {
    expect(diffTaskDef({ name: 't' }, { ...BARE_TASK, concurrentExecLimit: 4 })).toEqual([
      { field: 'concurrentExecLimit', registered: 4, declared: 0 },
    ])
  })

  test('CO-80 no limit is no limit, however it is written', () => {
    const registered = { ...BARE_TASK, concurrentExecLimit: 0, pollTimeoutSeconds: 0 }
    expect(diffTaskDef({ name: 't' }, registered)).toEqual([])
    expect(diffTaskDef(registered, BARE_TASK)).toEqual([])
  })

  test('CO-82 a field of a newer server is no drift', () => {
    expect(diffTaskDef({ name: 't' }, { ...BARE_TASK, brandNew: 7 } as TaskDef)).toEqual([])
  })
})

describe('workflow definitions', () => {
  const filled = {
    inputParameters: {},
    type: 'SIMPLE',
    decisionCases: {},
    defaultCase: [],
    forkTasks: [],
    startDelay: 0,
    joinOn: [],
    optional: false,
    defaultExclusiveJoinTask: [],
    asyncComplete: false,
    loopOver: [],
    onStateChange: {},
    permissive: false,
    metadata: {},
  }
  const bare: WorkflowDef = { name: 'w', tasks: [{ name: 't', taskReferenceName: 'a' }] }

  test('CO-81 a bare declaration equals what the server made of it', () => {
    const registered: WorkflowDef = {
      ...{ createTime: 1, updateTime: 0, name: 'w', version: 1, schemaVersion: 2, restartable: true },
      ...{ inputParameters: [], outputParameters: {}, workflowStatusListenerEnabled: false, metadata: {} },
      ...{
        timeoutPolicy: 'ALERT_ONLY',
        timeoutSeconds: 0,
        variables: {},
        inputTemplate: {},
        enforceSchema: true,
      },
      tasks: [{ ...filled, name: 't', taskReferenceName: 'a' }],
    }
    expect(diffWorkflowDef(bare, registered)).toEqual([])
  })

  test('CO-81 a change deep inside is named by its path', () => {
    const nest = (retryCount: number): WorkflowDef => ({
      name: 'w',
      tasks: [
        {
          name: 's',
          taskReferenceName: 's',
          type: 'SWITCH',
          decisionCases: {
            yes: [
              {
                name: 'f',
                taskReferenceName: 'f',
                forkTasks: [[{ name: 't', taskReferenceName: 'a', retryCount }]],
              },
            ],
          },
        },
      ],
    })
    expect(diffWorkflowDef(nest(1), nest(1))).toEqual([])
    expect(diffWorkflowDef(nest(1), nest(2))).toEqual([
      { field: 'tasks[0].decisionCases.yes[0].forkTasks[0][0].retryCount', registered: 2, declared: 1 },
    ])
  })

  test('CO-81 another number of tasks is one change, of the whole list', () => {
    const more: WorkflowDef = { ...bare, tasks: [...bare.tasks, { name: 't', taskReferenceName: 'b' }] }
    expect(diffWorkflowDef(bare, more)).toEqual([
      { field: 'tasks', registered: more.tasks, declared: bare.tasks },
    ])
  })

  test('CO-82 an undeclared field of a newer server is no drift, inside a task neither', () => {
    const [task] = bare.tasks
    expect(diffWorkflowDef(bare, { ...bare, tasks: [{ ...task!, brandNew: 1 }], other: 2 })).toEqual([])
  })
})
