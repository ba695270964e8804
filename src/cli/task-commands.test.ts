// The commands about modules of tasks, as they are shipped: `npm test` builds dist/ first.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'
import { openDefinitionServer, type DefinitionServer } from '../../test/support/cli/definition-server.ts'

let project: Project
let server: DefinitionServer
let environment: Record<string, string>

beforeEach(async () => {
  project = await openProject()
  server = await openDefinitionServer()
  environment = { CONDUCTOR_SERVER_URL: server.url }
  await project.write('tasks.ts', TASKS)
})

afterEach(async () => {
  await project.close()
  await server.close()
})

const TASKS = `
import { defineTask, defineWorkflow, defineWorkspaceTask, requireFile } from 'perago'
import { z } from 'zod'

const owner: string = 'data@example.org'

export const clean = defineWorkspaceTask({
  name: 'orders.clean',
  owner,
  params: z.object({ day: z.iso.date() }),
  result: z.object({ rows: z.int() }),
  workspace: { prefix: 'orders', post: [requireFile('clean.csv')] },
  runIn: 'process',
  body: () => ({ rows: 1 }),
})

export const notify = defineTask({
  name: 'orders.notify',
  owner,
  params: z.object({ text: z.string() }),
  result: z.null(),
  body: () => null,
})

export const daily = defineWorkflow({
  name: 'orders.daily',
  version: 2,
  owner,
  inputParameters: ['workspace', 'day'],
  steps: [
    {
      task: clean,
      taskReferenceName: 'clean',
      inputParameters: { workspace: '\${workflow.input.workspace}', params: { day: '\${workflow.input.day}' } },
    },
    { task: notify, taskReferenceName: 'notify', inputParameters: { params: { text: 'done' } } },
  ],
})
`

const squeeze = (text: string): string[] => text.replace(/ +/g, ' ').trimEnd().split('\n')

describe('check', () => {
  test('CL-40 it says what a module declares, as it is written', async () => {
    const { code, stdout, stderr } = await project.run(['check', 'tasks.ts', '--offline'], environment)
    expect([code, stderr]).toEqual([0, ''])
    expect(squeeze(stdout)).toEqual([
      'orders.clean writable workspace process lease 60 s, 50 s of it for publishing',
      'orders.notify no workspace inline lease 60 s',
      'orders.daily workflow, version 2 2 steps',
      'not compared with Conductor: --offline',
    ])
  })

  test('CL-40 a module in JavaScript is read as well, and --json gives one document', async () => {
    await project.write('tasks.js', TASKS.replace(': string', ''))
    const { code, stdout } = await project.run(['check', 'tasks.js', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      module: join(project.directory, 'tasks.js'),
      tasks: [
        { name: 'orders.clean', workspace: 'writable', body: 'process', leaseSeconds: 60, budgetSeconds: 50 },
        { name: 'orders.notify', workspace: 'none', body: 'inline', leaseSeconds: 60, budgetSeconds: 50 },
      ],
      workflows: [{ name: 'orders.daily', version: 2 }],
      problems: [],
      notes: [],
      conductor: { notCompared: 'conductor.serverUrl is not set' },
    })
  })

  test('CL-142 CL-143 it notes what counts as absent, and what a task does not read; that is no failure', async () => {
    await project.write(
      'notes.ts',
      TASKS.replace('z.iso.date()', "z.iso.date().default('2026-01-01')").replace(
        "text: 'done'",
        "text: 'done', txet: 1",
      ),
    )
    const { code, stdout, stderr } = await project.run(['check', 'notes.ts', '--offline'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter((line) => line.startsWith('note: '))).toEqual([
      'note: workflow orders.daily: clean: params.day is ${workflow.input.day}, null if the workflow is started without it: null counts as absent, its default is "2026-01-01"',
      'note: workflow orders.daily: notify: params.txet is not known; did you mean "text"?; the task does not read it',
    ])
    const json = await project.run(['check', 'notes.ts', '--offline', '--json'])
    expect((JSON.parse(json.stdout) as { notes: string[] }).notes).toHaveLength(2)
  })

  test.each([
    ['a module that is not there', 'none.ts', undefined, /none\.ts.* \[worker\/no-module\]/],
    ['a module without tasks', 'empty.ts', 'export const a = 1', /empty\.ts.* \[worker\/no-tasks\]/],
    [
      'a module that does not load',
      'broken.ts',
      'export const = 1',
      /broken\.ts.* \[worker\/module-failed\]/,
    ],
    [
      'a budget above the lease',
      'lease.ts',
      TASKS.replace("runIn: 'process',", 'controls: { timeout: { responseSeconds: 30 } },'),
      /publishBudget: the sum of its parts is 50 s.* \[worker\/module-failed\]/,
    ],
    [
      'a workflow with two writers of one branch at once',
      'parallel.ts',
      TASKS.replace(
        /steps: \[[\s\S]*/,
        `steps: [{ name: 'f', taskReferenceName: 'f', type: 'FORK_JOIN', forkTasks: ['a', 'b'].map((name) => [
          { task: clean, taskReferenceName: name, inputParameters: { workspace: '\${workflow.input.workspace}', params: {} } },
        ]) }] })`,
      ),
      /a and b may write one branch at the same time.* \[worker\/module-failed\]/,
    ],
  ])('CL-41 %s is refused in one line', async (_name, file, text, expected) => {
    if (text !== undefined) await project.write(file, text)
    const { code, stdout, stderr } = await project.run(['check', file, '--offline'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(expected)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('CL-41 schemas that no JSON can express are refused, each by its task', async () => {
    await project.write(
      'dates.ts',
      TASKS.replace('z.iso.date()', 'z.date()').replace('z.null()', 'z.bigint()'),
    )
    const { code, stderr } = await project.run(['check', 'dates.ts', '--offline', '--json'])
    expect(code).toBe(2)
    const { error } = JSON.parse(stderr) as { error: { code: string; details: { problems: string[] } } }
    expect(error.code).toBe('cli/bad-module')
    expect(error.details.problems).toEqual([
      expect.stringMatching(/^write the params of task "orders\.clean" as JSON Schema: /),
      expect.stringMatching(/^write the result of task "orders\.notify" as JSON Schema: /),
    ])
  })

  test('CL-42 what differs from what is registered is named, and refused', async () => {
    const missing = await project.run(['check', 'tasks.ts'], environment)
    expect(missing.code).toBe(3)
    expect(missing.stderr).toContain('[cli/drift]')
    expect(missing.stderr).toContain('  - task "orders.clean": not registered\n')

    await project.run(['register', 'tasks.ts', '--yes'], environment)
    const same = await project.run(['check', 'tasks.ts'], environment)
    expect([same.code, same.stderr]).toEqual([0, ''])
    expect(same.stdout).toContain('compared with Conductor 3.32.3\n')

    server.tasks.set('orders.clean', {
      ...server.tasks.get('orders.clean')!,
      ...{ retryCount: 9, responseTimeoutSeconds: 40 },
    })
    await project.write(
      'tasks.ts',
      TASKS.replace(
        '{ task: notify,',
        "{ name: 'elsewhere.mail', taskReferenceName: 'mail' },\n{ task: notify,",
      ),
    )
    const drifted = await project.run(['check', 'tasks.ts'], environment)
    expect(drifted.code).toBe(3)
    for (const line of [
      'task "orders.clean": retryCount is 9 there and 3 here; responseTimeoutSeconds is 40 there and 60 here',
      'workflow "orders.daily" version 2: tasks is',
      'task type "elsewhere.mail" is neither declared nor registered',
      'orders.clean: publishBudget: the sum of its parts is 50 s, which must be less than the response timeout of 40 s',
    ])
      expect(drifted.stderr).toContain(`  - ${line}`)
  })

  test('CL-42 a Conductor that is configured and not there is no success', async () => {
    await server.close()
    const { code, stderr } = await project.run(['check', 'tasks.ts'], environment)
    expect(code).toBe(4)
    expect(stderr).toMatch(/\[conductor\/[a-z-]+\]/)
  })
})

describe('extract', () => {
  test('CL-43 the definitions are one document, or files of their own', async () => {
    const { code, stdout } = await project.run(['extract', 'tasks.ts'])
    expect(code).toBe(0)
    const all = JSON.parse(stdout) as Record<string, { name: string }[]>
    expect(all['taskDefs']!.map(({ name }) => name)).toEqual(['orders.clean', 'orders.notify'])
    expect(all['workflowDefs']).toMatchObject([{ name: 'orders.daily', version: 2, schemaVersion: 2 }])

    const written = await project.run(['extract', 'tasks.ts', '-o', 'out/defs'])
    expect(written.stdout.trim().split('\n')).toEqual([
      'out/defs/taskdefs/orders.clean.json',
      'out/defs/taskdefs/orders.notify.json',
      'out/defs/workflows/orders.daily.2.json',
      'out/defs/schemas/orders.clean.input.json',
      'out/defs/schemas/orders.clean.output.json',
      'out/defs/schemas/orders.notify.input.json',
      'out/defs/schemas/orders.notify.output.json',
    ])
    const read = async (name: string): Promise<unknown> =>
      JSON.parse(await readFile(join(project.directory, 'out/defs', name), 'utf8'))
    expect(await read('taskdefs/orders.clean.json')).toEqual(all['taskDefs']![0])
    expect(await read('schemas/orders.clean.input.json')).toMatchObject({
      properties: { workspace: { required: ['repository', 'branch', 'refType', 'ref'] }, params: {} },
    })
  })

  test('CL-43 a place that cannot be written is refused in one line', async () => {
    await project.write('file', '')
    const { code, stderr } = await project.run(['extract', 'tasks.ts', '-o', 'file'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: write the definitions to .*file: .* \[cli\/cannot-write\]\. .+\n$/)
  })

  test.runIf(existsSync('/proc/self'))(
    'CL-43 a place where nobody makes a directory is refused',
    async () => {
      const { code, stderr } = await project.run(['extract', 'tasks.ts', '-o', '/proc/nope'])
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /^perago: write the definitions to \/proc\/nope: .* \[cli\/cannot-write\]\. .+\n$/,
      )
    },
  )
})

describe('register', () => {
  test('CL-44 it shows what would change, and changes nothing before somebody said yes', async () => {
    const dry = await project.run(['register', 'tasks.ts', '--dry-run'], environment)
    expect([dry.code, dry.stderr]).toEqual([0, ''])
    expect(dry.stdout).toBe(
      '+ task orders.clean: new\n+ task orders.notify: new\n+ workflow orders.daily version 2: new\nnothing was changed\n',
    )
    const unasked = await project.run(['register', 'tasks.ts'], environment)
    expect([unasked.code, unasked.stdout]).toEqual([2, ''])
    expect(unasked.stderr).toContain('+ task orders.clean: new\n')
    expect(unasked.stderr).toContain('[cli/not-confirmed]')
    expect(server.tasks.size + server.workflows.size).toBe(0)
  })

  test('CL-44 with yes it creates what is missing, replaces what differs, and leaves the rest', async () => {
    const first = await project.run(['register', 'tasks.ts', '--yes', '--json'], environment)
    expect(first.code).toBe(0)
    expect(JSON.parse(first.stdout)).toMatchObject({
      done: true,
      definitions: [{ state: 'missing' }, { state: 'missing' }, { state: 'missing' }],
    })
    expect(server.tasks.get('orders.clean')).toMatchObject({ retryCount: 3, timeoutPolicy: 'RETRY' })
    expect(server.workflows.get('orders.daily 2')).toMatchObject({ name: 'orders.daily', version: 2 })

    const again = await project.run(['register', 'tasks.ts'], environment)
    expect(again.code).toBe(0)
    expect(again.stdout).toContain('nothing to do: everything is registered\n')

    server.tasks.set('orders.clean', { ...server.tasks.get('orders.clean')!, ...{ retryCount: 9 } })
    const mended = await project.run(['register', 'tasks.ts', '--yes'], environment)
    expect(mended.stdout).toContain('~ task orders.clean\n    - retryCount: 9\n    + retryCount: 3\n')
    expect(server.tasks.get('orders.clean')).toMatchObject({ retryCount: 3 })
  })

  test('CL-44 without a configured Conductor it says what to set', async () => {
    const { code, stderr } = await project.run(['register', 'tasks.ts', '--yes'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: connect to Conductor: .* \[runtime\/no-conductor\]\. .+\n$/)
  })
})

describe('doctor', () => {
  test('CL-35 it says what Conductor is and what differs there, and what fails does not hide the rest', async () => {
    const first = await project.run(['doctor', 'tasks.ts'], environment)
    expect(first.code).toBe(2)
    expect(first.stderr).toMatch(/^perago: connect to lakeFS: .* \[runtime\/no-lakefs\]/)
    expect(squeeze(first.stdout)).toEqual([
      expect.stringMatching(/^worker root \//),
      expect.stringMatching(/^file system /),
      expect.stringMatching(/^file times /),
      expect.stringMatching(/^lakeFS problem: connect to lakeFS: .* \[runtime\/no-lakefs\]\. Set them/),
      expect.stringMatching(/^Conductor http:\/\/127\.0\.0\.1:\d+\/api$/),
      'version 3.32.3',
      'health well',
      expect.stringMatching(/^answered in \d+ ms$/),
      'task output up to 3.0 MiB: publish what is larger in the workspace',
      'workflow input up to 5.0 MiB: pass a reference to what is larger',
      'branches none is used by more than one open workflow',
      'queue "orders.clean": nothing waits; no worker has ever asked for it',
      'queue "orders.notify": nothing waits; no worker has ever asked for it',
      'module problem: compare "tasks.ts" with Conductor: 3 differences [cli/drift]. Register with "perago register tasks.ts".',
      ' - task "orders.clean": not registered',
      ' - task "orders.notify": not registered',
      ' - workflow "orders.daily" version 2: not registered',
    ])

    await project.run(['register', 'tasks.ts', '--yes'], environment)
    const { stdout } = await project.run(['doctor', 'tasks.ts', '--json'], environment)
    expect(JSON.parse(stdout)).toMatchObject({
      lakefs: { error: { code: 'runtime/no-lakefs' } },
      conductor: { version: '3.32.3', isHealthy: true, limits: { taskOutputBytes: 3_145_728 } },
      module: { definitions: [{ state: 'same' }, { state: 'same' }, { state: 'same' }] },
    })
  })

  test('CL-35 F-58 doctor says which branches several open workflows may write', async () => {
    const input = { workspace: { repository: 'lake', branch: 'main' } }
    for (const [index, workflowId] of ['w-1', 'w-2'].entries())
      server.open.push({ workflowId, workflowName: 'orders.daily', startTime: index, input })
    const { stdout } = await project.run(['doctor'], environment)
    expect(squeeze(stdout)).toContain(
      'shared branch "main" of "lake", used by orders.daily w-1, orders.daily w-2: only one may write it; wait for the others to end or terminate them',
    )
    server.open.push({})
    const unknown = await project.run(['doctor'], environment)
    expect(squeeze(unknown.stdout)).toContain('branches unknown: searching open workflows failed')
  })

  test('CL-35 a Conductor that is not there, or not configured, is told as such', async () => {
    await server.close()
    const away = await project.run(['doctor', '--json'], environment)
    expect(JSON.parse(away.stdout)).toMatchObject({
      conductor: { error: { kind: 'unavailable' } },
      module: null,
    })
    const { stdout } = await project.run(['doctor'])
    expect(stdout).toMatch(/^Conductor +not configured: set conductor\.serverUrl/m)
  })
})
