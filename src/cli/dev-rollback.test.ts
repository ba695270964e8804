// Rollback from the command line, as it is shipped, with a real worker over the embedded lakeFS: `npm test` builds dist/ first.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'

const WAIT_MS = 90_000

const TASKS = `
import { writeFile } from 'node:fs/promises'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'

export const write = defineWorkspaceTask({
  name: 'demo.write', owner: 'data@example.org', params: z.object({ file: z.string() }), result: z.string(),
  workspace: { prefix: 'out' },
  body: async ({ workspace, params }) => {
    await writeFile(workspace.path(params.file), params.file)
    return params.file
  },
})
`

const PIPELINE = `
name: daily
input: { workspace: {} }
units:
  load: { task: demo.write, phase: in, workspace: '\${workflow.input.workspace}', params: { file: a } }
  clean: { task: demo.write, phase: work, workspace: '\${load.output.workspace}', params: { file: b } }
  report: { task: demo.write, phase: out, workspace: '\${clean.output.workspace}', params: { file: c } }
output: { ref: '\${report.output.workspace.ref}' }
`

let project: Project
beforeEach(async () => {
  project = await openProject()
  await project.write('tasks.mjs', TASKS)
  await project.write('daily.yaml', PIPELINE)
})
afterEach(() => project.close())

async function askLakefs(path: string, body?: object): Promise<Record<string, unknown>> {
  const file = await readFile(join(project.directory, '.perago/lakefs/address.json'), 'utf8')
  const { url } = JSON.parse(file) as { url: string }
  const { stdout } = await project.run(['lakefs', 'credentials', '--json'])
  const { accessKeyId, secretAccessKey } = JSON.parse(stdout) as Record<string, string>
  const key = Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')
  const answer = await fetch(`${url}/api/v1/repositories/lake/${path}`, {
    headers: { authorization: `Basic ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await answer.json()) as Record<string, unknown>
}

const headOfMain = async (): Promise<string> => (await askLakefs('branches/main'))['commit_id'] as string

async function filesOfMain(): Promise<readonly string[]> {
  const { results } = (await askLakefs('refs/main/objects/ls')) as { results: { path: string }[] }
  return results.map(({ path }) => path)
}

async function runDaily(): Promise<string> {
  const ran = await project.run(['run', 'daily', '--repo', 'lake', '--branch', 'main', '--json'])
  expect(ran).toMatchObject({ code: 0 })
  return (JSON.parse(ran.stdout) as { workflow_id: string }).workflow_id
}

test(
  'CL-64 EN-611 a phase goes back with its commits and runs again; a commit of somebody else refuses that',
  async () => {
    const dev = project.start(['dev', 'tasks.mjs', 'daily.yaml', '--repository', 'lake'])
    expect(await dev.firstLine).toMatch(/^ready /)
    const id = await runDaily()
    const published = await headOfMain()
    expect(await filesOfMain()).toEqual(['out/a', 'out/b', 'out/c'])

    const dry = await project.run(['rollback', id, '--phase', 'work', '--dry-run'])
    expect(dry.stdout).toMatch(/^runs again +clean, report\nlake\/main +[0-9a-f]{12} → [0-9a-f]{12}\n$/)
    expect(await headOfMain()).toBe(published)

    const rolled = await project.run(['rollback', id, '--phase', 'work', '--pause'])
    expect(rolled).toMatchObject({ code: 0 })
    expect(rolled.stdout).toMatch(
      /^lake\/main +moved; what left it: perago-superseded-\S+\nrolled back +paused\n$/,
    )
    expect(await filesOfMain()).toEqual(['out/a'])
    const drawn = await project.run(['graph', id])
    expect(drawn.stdout).toMatch(/load +demo\.write +completed\n.*clean +demo\.write +pending/)
    expect(await project.run(['graph', id, '--svg', 'now.svg'])).toMatchObject({ code: 0 })
    const svg = await readFile(join(project.directory, 'now.svg'), 'utf8')
    expect(svg).toContain('data-unit="load" data-state="COMPLETED"')

    await project.run(['resume', id])
    const status = async () =>
      (JSON.parse((await project.run(['show', id, '--json'])).stdout) as { status: string }).status
    await expect.poll(status, { timeout: WAIT_MS, interval: 300 }).toBe('COMPLETED')
    expect(await filesOfMain()).toEqual(['out/a', 'out/b', 'out/c'])

    // Nobody else loses a commit.
    await askLakefs('branches/main/commits', { message: 'theirs', allow_empty: true })
    const theirs = await headOfMain()
    const refused = await project.run(['rollback', id, '--to', 'start'])
    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toContain('cli/rollback-refused')
    const listed = await project.run(['rollback', id, '--to', 'start', '--dry-run', '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject({
      undone: ['load', 'clean', 'report'],
      refusals: [{ code: 'publication/foreign-commit' }],
    })
    expect(await headOfMain()).toBe(theirs)
  },
  3 * WAIT_MS,
)

test('CL-64 what cannot be rolled back is told: bad options, no engine, no such execution', async () => {
  const both = await project.run(['rollback', 'x', '--phase', 'a', '--unit', 'b'])
  expect(both.stderr).toContain('cli/bad-usage')
  expect(await project.run(['rollback', 'x'])).toMatchObject({ code: 2 })
  expect((await project.run(['rollback', 'x'])).stderr).toContain('perago dev MODULE')
})
