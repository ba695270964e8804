// Goal: the guide's program runs as it stands, and definitions built with the SDK are registered as they are.
// The command and the program use the package as it was built: `npm run build` comes first.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { conductorControl } from '../conformance/conductor-control.ts'
import { openProject, type Project } from '../support/cli/command.ts'
import { filesOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { PROJECT_ROOT, readText } from '../support/source-tree.ts'
import { SDKS } from '../support/worker-conductor/sdk-loop.ts'
import { MAIN, openWorkerLakefs, until, type WorkerLakefs } from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000
const EXAMPLE = join(PROJECT_ROOT, 'examples/conductor-sdk')
const conductor = useRealServer('conductor')

let lakefs: WorkerLakefs

beforeAll(async () => {
  lakefs = await openWorkerLakefs()
})
afterAll(() => lakefs.close())

async function openFor(
  context: TestContext,
): Promise<{ project: Project; environment: Record<string, string> }> {
  const { url } = conductor(context)
  const project = await openProject()
  onTestFinished(() => project.close())
  const { endpoint, credentials } = lakefs.configuration
  const environment = {
    CONDUCTOR_SERVER_URL: `${url}/api`,
    LAKEFS_ENDPOINT: endpoint ?? '',
    LAKEFS_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
    LAKEFS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
  }
  return { project, environment }
}

test(
  'IO-69 the guide shows the example, and the example does what the guide says',
  { timeout: TEST_MS },
  async (context) => {
    const guide = readText('docs/guides/use-with-the-conductor-sdk.md')
    for (const file of ['tasks.ts', 'main.mjs'])
      expect(guide).toContain(`\n${readText(`examples/conductor-sdk/${file}`)}\`\`\`\n`)

    const { project, environment } = await openFor(context)
    const registered = await project.run(['register', join(EXAMPLE, 'tasks.ts'), '--yes'], environment)
    expect([registered.code, registered.stderr]).toEqual([0, ''])

    const { repository, repo } = await lakefs.openRepository()
    await repo.write({
      branch: MAIN,
      path: 'a.txt',
      body: { sizeBytes: 4, open: () => Buffer.from('a\nb\n') },
    })
    const outcome = await repo.commit({ branch: MAIN, message: 'Input' })
    if (!outcome.committed) throw new Error(outcome.reason)

    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'examples/conductor-sdk/main.mjs')], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await until('it polls', () => said.includes('polling'))

    const control = conductorControl(conductor(context).url)
    const workspace = { repository, branch: 'main', refType: 'commit', ref: outcome.commit.ref }
    const workflow = await control.start({ name: 'letters', input: { workspace, file: 'a.txt' } })
    await until(
      'the workflow has ended',
      async () => (await control.readWorkflow(workflow))?.status !== 'RUNNING',
    )
    const view = await control.readWorkflow(workflow)
    expect([view?.status, view?.output]).toEqual(['COMPLETED', { text: 'there are 2 lines' }])
    expect((await filesOf(repo))['lines.txt']).toBe('2\n')

    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  },
)

describe.each(SDKS)('definitions built with version $version', { timeout: TEST_MS }, ({ path }) => {
  test('IO-68 are checked, registered once, and the same from then on', async (context) => {
    const { project, environment } = await openFor(context)
    const id = randomBytes(4).toString('hex')
    const moduleOf = (from: string): string => `
      import { createRequire } from 'node:module'
      const sdk = createRequire(import.meta.url)(${JSON.stringify(path)})
      const { workflow, simpleTask, switchTask, ConductorWorkflow } = sdk
      const step = (ref, input = {}) => simpleTask(ref, 'sdk_${id}_' + ref, input)
      const sides = { big: [step('big')] }
      export const plain = workflow('sdk_${id}_plain', [
        step('first'),
        switchTask('which', '\${first.output.size}', sides, [step('small')]),
        step('last', { from: '\${${from}.output}' }),
      ])
      export const fluent = new ConductorWorkflow({}, 'sdk_${id}_fluent', 2)
        .description('By the builder')
        .add(step('begin'))
        .fork([[step('left')], [step('right')]])
        .outputParameters({ left: '\${left.output}' })
    `
    await project.write('bad.mjs', moduleOf('nothing'))
    const bad = await project.run(['check', 'bad.mjs', '--offline'])
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringContaining('names "nothing", which is not a step'),
    ])

    await project.write('good.mjs', moduleOf('first'))
    const register = async (): Promise<unknown> => {
      const { code, stdout, stderr } = await project.run(
        ['register', 'good.mjs', '--yes', '--json'],
        environment,
      )
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout)
    }
    const states = (state: string): object => ({
      definitions: [
        { kind: 'workflow', name: `sdk_${id}_fluent`, version: 2, state },
        { kind: 'workflow', name: `sdk_${id}_plain`, version: 1, state },
      ],
    })
    expect(await register()).toMatchObject(states('missing'))
    expect(await register()).toMatchObject(states('same'))
    const extracted = await project.run(['extract', 'good.mjs'])
    expect(JSON.parse(extracted.stdout)).toMatchObject({ workflowDefs: [{ version: 2 }, { version: 1 }] })
  })
})
