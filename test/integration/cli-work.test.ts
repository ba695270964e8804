// Goal: what `perago run` and `perago start` promise, with the shipped command over an embedded lakeFS.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { branchName, repositoryName, type CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { openProject, type Project } from '../support/cli/command.ts'
import { filesOf } from '../support/publication-world.ts'
import { serveTestQueue, type ConductorFront } from '../support/worker/conductor-http.ts'

const MAIN = branchName('main')
const WAIT = { timeout: 60_000, interval: 20 }

let project: Project
let lakefs: EmbeddedLakefs
let client: LakefsClient
let repo: VersionedRepo
let environment: Record<string, string>

beforeEach(async () => {
  project = await openProject()
  lakefs = await startEmbeddedLakefs({})
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  const repository = repositoryName('lake')
  await createRepository(client, { repository, storageNamespace: 'local://lake', defaultBranch: MAIN })
  repo = openLakefsRepo(client, repository)
  environment = {
    LAKEFS_ENDPOINT: lakefs.url,
    LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
  }
  await project.write('tasks.ts', TASKS)
})

afterEach(async () => {
  await project.close()
  await client.close()
  await lakefs.close()
})

const TASKS = `
import { writeFileSync } from 'node:fs'
import { defineTask, defineWorkspaceTask, forbidGlob, TerminalError } from 'perago'
import { z } from 'zod'

const owner = 'data@example.org'

export const write = defineWorkspaceTask({
  name: 'notes.write',
  owner,
  params: z.object({ text: z.string() }),
  result: z.object({ chars: z.int() }),
  workspace: { prefix: 'notes', post: [forbidGlob('*.tmp')] },
  body: ({ workspace, params: { text }, log }) => {
    if (text === '') throw new TerminalError('there is nothing to write')
    log.info('writing ' + text)
    writeFileSync(workspace.path(text === 'leftover' ? 'note.tmp' : 'note.txt'), text)
    return { chars: text.length }
  },
})

export const wait = defineTask({
  name: 'notes.wait',
  owner,
  params: z.object({ ms: z.int() }),
  result: z.null(),
  body: ({ params: { ms }, signal }) =>
    new Promise((resolve, reject) => {
      setTimeout(() => resolve(null), ms)
      signal.addEventListener('abort', () => reject(signal.reason))
    }),
})
`

async function headOf(): Promise<CommitRef> {
  const found = await repo.readBranch(MAIN)
  return found!.head
}

describe('run', () => {
  const run = (text: string, ...more: readonly string[]): ReturnType<Project['run']> =>
    project.run(
      [
        'run',
        'notes.write',
        'tasks.ts',
        '--repo',
        'lake',
        '--branch',
        'main',
        ...more,
        '--params',
        JSON.stringify({ text }),
      ],
      environment,
    )

  test('CL-45 a task runs without a queue and publishes on the head of the branch', async () => {
    const before = await headOf()
    const { code, stdout, stderr } = await run('hello')
    expect(code).toBe(0)
    expect(stdout.replace(/ +/g, ' ')).toContain(
      `notes.write published\ncommit ${await headOf()}\nresult {"chars":5}\nlog writing hello\n`,
    )
    expect(stderr).toMatch(/^body +done +\d+ ms$/m)
    expect((await filesOf(repo))['notes/note.txt']).toBe('hello')
    expect((await repo.readCommit(await headOf()))?.parents).toEqual([before])

    const again = await run('hello', '--json')
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(JSON.parse(again.stdout)).toMatchObject({
      task: 'notes.write',
      workspace: { repository: 'lake', branch: 'main', refType: 'commit', ref: await headOf() },
      result: { chars: 5 },
      publication: { action: 'completed' },
    })
    expect(await readdir(join(project.directory, '.perago/run/workers'))).toEqual([])
  })

  test('CL-45 a task without a workspace needs no lakeFS', async () => {
    const { code, stdout } = await project.run(['run', 'notes.wait', 'tasks.ts', '--params', '{"ms": 1}'])
    expect(code).toBe(0)
    expect(stdout.replace(/ +/g, ' ')).toBe('notes.wait done\nresult null\n')
  })

  test('CL-141 a short id stands for a commit, which is named', async () => {
    const first = await headOf()
    const { code, stderr } = await run('hello', '--ref', first.slice(0, 10))
    expect(code).toBe(0)
    expect(stderr).toContain(`${first.slice(0, 10)} is commit ${first}\n`)
    expect((await repo.readCommit(await headOf()))?.parents).toEqual([first])
  })

  test('CL-46 a commit on the branch is never replaced, however it stands to the one that was read', async () => {
    const before = await headOf()
    await run('first')
    const after = await headOf()
    const { code, stdout, stderr } = await run('second', '--ref', before)
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/\[fences\/publish-refused\]/)
    expect(await headOf()).toBe(after)
  })

  test.each([
    ['what the author calls terminal', '', [], 2, /there is nothing to write \[task\/terminal\]/],
    ['a guardrail', 'leftover', [], 2, /note\.tmp.* \[workspace\/post-guardrail\]/],
    ['a branch that is not there', 'x', ['--branch', 'other'], 2, /"other".* \[runtime\/no-such-branch\]/],
    ['a ref that is nothing', 'x', ['--ref', 'mian'], 2, /"mian".* \[runtime\/no-such-commit\]/],
    ['a ref that no name can be', 'x', ['--ref', 'main$'], 2, /"main\$".* \[lakefs\/bad-ref\]/],
  ])('CL-46 the exit code and one line tell of a failure: %s', async (_name, text, more, expected, said) => {
    const before = await headOf()
    const { code, stdout, stderr } = await run(text, ...more)
    expect([code, stdout]).toEqual([expected, ''])
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^perago: /)
    expect(stderr).toMatch(said)
    expect(await headOf()).toBe(before)
  })

  test.each([
    [['notes.wirte', 'tasks.ts'], /Did you mean "notes\.write"\?/],
    [['notes.write', 'tasks.ts', '--params', '{"text": "x"}'], /\[runtime\/no-target\]/],
    [['notes.write', 'tasks.ts', '--repo', 'lake'], /--repo and --branch belong together \[cli\/bad-usage\]/],
    [['notes.wait', 'tasks.ts', '--params', '{ms: 1}'], /read --params: .* \[cli\/bad-params\]/],
    [['notes.wait', 'tasks.ts', '--params', '{"ms": "1"}'], /ms: .* \[worker\/invalid-params\]/],
  ])('CL-46 %j is refused before anything runs', async (args, said) => {
    const { code, stdout, stderr } = await project.run(['run', ...args], environment)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(said)
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^perago: /)
  })

  test('CL-46 a signal ends the task, and nothing is published', async () => {
    const started = project.start(['run', 'notes.wait', 'tasks.ts', '--params', '{"ms": 60000}'])
    await expect.poll(() => started.stderr(), WAIT).toContain('read-input')
    started.child.kill('SIGTERM')
    const { code, stderr } = await started.ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/stopped before it was done \[cli\/stopped\]/)
  })
})

describe('start', () => {
  let queue: TestQueue
  let front: ConductorFront
  let defs: Record<string, object>

  beforeEach(async () => {
    queue = openTestQueue()
    const { stdout } = await project.run(['extract', 'tasks.ts'])
    const { taskDefs } = JSON.parse(stdout) as { taskDefs: { name: string; retryCount: number }[] }
    defs = Object.fromEntries(taskDefs.map((def) => [def.name, def]))
    await queue.registerTask({ name: 'notes.write', responseTimeoutSeconds: 60, timeoutPolicy: 'RETRY' })
    await queue.registerWorkflow({
      name: 'note',
      tasks: [
        {
          name: 'notes.write',
          taskReferenceName: 'write',
          inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
        },
      ],
    })
    front = await serveTestQueue(queue, defs)
    environment = { ...environment, CONDUCTOR_SERVER_URL: front.url }
  })

  afterEach(async () => {
    await front.close()
  })

  async function note(text: string): Promise<string | undefined> {
    const workspace = { repository: 'lake', branch: 'main', refType: 'commit', ref: await headOf() }
    const workflow = await queue.start({ name: 'note', input: { workspace, params: { text } } })
    const status = async (): Promise<string | undefined> => (await queue.readWorkflow(workflow))?.status
    await expect.poll(status, WAIT).not.toBe('RUNNING')
    return status()
  }

  test('CL-48 it works on tasks until SIGTERM, and ends with 0', async () => {
    const { child, firstLine, ended, stderr } = project.start(
      ['start', 'tasks.ts', '-j', '2', '--health-port', '0'],
      environment,
    )
    expect(await firstLine).toBe(`ready 2 workers in ${join(project.directory, '.perago/work')}`)
    const urls = [...stderr().matchAll(/^worker [01]: health and metrics at (\S+)$/gm)].map(([, url]) => url)
    expect(urls).toHaveLength(2)
    for (const url of urls) expect((await fetch(`${url!}/readyz`)).status).toBe(200)
    expect(await note('by a worker')).toBe('COMPLETED')
    expect((await filesOf(repo))['notes/note.txt']).toBe('by a worker')

    const second = await project.run(['start', 'tasks.ts'], environment)
    expect(second.code).toBe(3)
    expect(second.stderr).toMatch(/\[runtime\/root-taken\]/)

    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    for (const url of urls) await expect(fetch(`${url!}/healthz`)).rejects.toThrow()
  })

  test('CL-49 tasks that are not registered, or otherwise, are refused before anything starts', async () => {
    defs['notes.write'] = { ...defs['notes.write'], retryCount: 9 }
    const drifted = await project.run(['start', 'tasks.ts'], environment)
    expect([drifted.code, drifted.stdout]).toEqual([3, ''])
    expect(drifted.stderr).toMatch(/retryCount is 9 there and 3 here.* \[runtime\/task-drift\]/)

    const allowed = project.start(['start', 'tasks.ts', '--allow-drift'], environment)
    expect(await allowed.firstLine).toMatch(/^ready 1 worker in /)
    allowed.child.kill('SIGTERM')
    expect((await allowed.ended).code).toBe(0)

    delete defs['notes.wait']
    const missing = await project.run(['start', 'tasks.ts', '--allow-drift'], environment)
    expect(missing.code).toBe(3)
    expect(missing.stderr).toMatch(/notes\.wait: it is not registered.* \[runtime\/not-registered\]/)
  })

  test('CL-49 what is not configured is named', async () => {
    const { code, stderr } = await project.run(['start', 'tasks.ts'], { CONDUCTOR_SERVER_URL: front.url })
    expect(code).toBe(2)
    expect(stderr).toMatch(/\[runtime\/no-lakefs\]/)
  })
})
