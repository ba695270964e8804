// `perago workflow` on the engine of `perago dev`, as it is shipped: `npm test` builds dist/ first.
import { expect, onTestFinished, test } from 'vitest'
import { openProject } from '../../test/support/cli/command.ts'

const TEST_MS = 180_000

const TASKS = `
import { writeFile } from 'node:fs/promises'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'
export const write = defineWorkspaceTask({
  name: 'demo.write', owner: 'data@example.org', params: z.object({}), result: z.object({}), workspace: { prefix: 'out' },
  body: ({ workspace, attempt }) => writeFile(workspace.path('file'), attempt.workflowId).then(() => ({})),
})
`
const NIGHTLY = `
name: nightly
units:
  head: { task: perago.branch_head, params: { repository: lake, branch: main } }
  write: { task: demo.write, workspace: '\${head.output.result}' }
output: { ref: '\${write.output.workspace.ref}' }
`
const OUTER = `
name: outer
units:
  inner: { pipeline: nightly }
  orphan: { after: [inner], task: nobody.works }
`

test(
  'CL-151 CL-152 a start with a key happens once, and workflows are found by what they are, on the engine',
  async () => {
    const project = await openProject()
    onTestFinished(() => project.close())
    await project.write('tasks.mjs', TASKS)
    await project.write('nightly.yaml', NIGHTLY)
    await project.write('outer.yaml', OUTER)
    const dev = project.start(['dev', 'tasks.mjs', 'nightly.yaml', 'outer.yaml', '--repository', 'lake'])
    const address = (await dev.firstLine).replace(/^ready /, '')
    const perago = async (...args: string[]) => {
      const { code, stdout, stderr } = await project.run([...args, '--json'])
      return { code, stderr, json: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>) }
    }
    const start = [
      'workflow',
      'start',
      'nightly',
      '--idempotency-key',
      'monday',
      '--correlation-id',
      'week 3',
    ]
    const first = await perago(...start, '--wait')
    expect(first).toMatchObject({ code: 0, json: { status: 'COMPLETED' } })
    expect((await perago(...start)).json).toEqual({ workflow_id: first.json['workflow_id'] })
    // The same input again finds the new head, and publishes on it.
    const second = await perago('workflow', 'start', 'nightly', '--wait')
    expect(second).toMatchObject({ code: 0, json: { status: 'COMPLETED' } })
    expect(second.json['output']).not.toEqual(first.json['output'])

    const outer = await perago('workflow', 'start', 'outer')
    const id = String(outer.json['workflow_id'])
    const running = async () => (await project.run(['workflow', 'show', id])).stdout
    await expect
      .poll(running, { timeout: 60_000 })
      .toMatch(/✓ inner .*\n {4}✓ head .*\n {4}✓ write .*\n {2}· orphan/)
    // What is configured is looked at, and that is not the lakeFS of perago dev.
    const examined = await project.run(['doctor', '--json'], { CONDUCTOR_SERVER_URL: address })
    expect(JSON.parse(examined.stdout)).toMatchObject({
      queues: { queues: [{ taskType: 'nobody.works', waiting: 1, lastPollAt: null }] },
    })

    const ls = async (...args: string[]) =>
      (await perago('workflow', 'ls', ...args)).json['workflows'] as Record<string, unknown>[]
    expect(await ls('--correlation-id', 'week 3')).toMatchObject([{ name: 'nightly', status: 'COMPLETED' }])
    expect((await ls('--name', 'nightly', '--status', 'completed')).length).toBe(3)
    expect(await ls('--status', 'running,paused', '--since', '1h')).toMatchObject([{ workflow_id: id }])
    expect(await ls('--status', 'running,paused')).toMatchObject([{ workflow_id: id, status: 'RUNNING' }])
    expect(await ls('--until', '2020-01-01')).toEqual([])
    const page = await perago('workflow', 'ls', '--limit', '2')
    expect(page.json).toMatchObject({ is_whole: false, workflows: [{}, {}] })

    expect(await perago('workflow', 'terminate', id, '--reason', 'enough')).toMatchObject({ code: 0 })
    expect(await ls('--failed')).toMatchObject([{ workflow_id: id, status: 'TERMINATED', reason: 'enough' }])
    expect((await perago('workflow', 'retry', id, '--from', 'inner')).json).toMatchObject({
      status: 'RUNNING',
    })
    expect(await perago('workflow', 'terminate', id)).toMatchObject({ code: 0 })
    dev.child.kill('SIGTERM')
    expect((await dev.ended).code).toBe(0)
  },
  TEST_MS,
)
