// Goal: what `perago run` and `perago start` promise, with the shipped command over an embedded lakeFS.
import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
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
    if (text === 'forgets') void Promise.reject(new Error('nobody waited'))
    if (text === 'exits') process.exit(0)
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function put(path: string, text: string): Promise<void> {
  const body = { sizeBytes: text.length, open: () => Readable.from([Buffer.from(text)]) }
  await repo.write({ branch: MAIN, path, body }, {})
  await repo.commit({ branch: MAIN, message: path, metadata: {} }, {})
}

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

  test('CL-171 a second run takes what the first one fetched from the cache, and says so', async () => {
    const notes = { 'notes/old.txt': 'an older note', 'notes/older.txt': 'a still older one' }
    for (const [path, text] of Object.entries(notes)) await put(path, text)
    const first = await run('one')
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining('from the cache')])
    const second = await run('two')
    expect(second.stderr).toMatch(/^[23] of 3 files from the cache, \d+ B not fetched again$/m)
    await project.write('perago.yaml', 'cache:\n  size: 0\n')
    expect((await run('three')).stderr).not.toContain('from the cache')
  })

  test.each([
    ['forgets', 'the body failed where nobody awaits it: nobody waited [task/failed]'],
    ['exits', 'the body called process.exit(0) [worker/body-exited]'],
  ])('WK-323 what a body leaves uncaught fails its run, and nothing is published: %s', async (text, said) => {
    const before = await headOf()
    const { code, stderr } = await run(text)
    expect([code, await headOf()]).toEqual([4, before])
    expect(stderr).toContain(`perago: ${said}`)
    expect(stderr).toMatch(/ at tasks\.ts:\d+\.$/m)
  })

  test('CL-174 the commit names the revision of the code: as given, or as the environment says', async () => {
    const revision = async (): Promise<string | undefined> =>
      (await repo.readCommit(await headOf()))?.metadata['publish.code_version']
    environment = { ...environment, PERAGO_REVISION: 'build-7' }
    await run('one')
    expect(await revision()).toBe('build-7')
    await run('two', '--revision', 'v2')
    expect(await revision()).toBe('v2')
    const shown = await project.run(['blame', 'lake', 'main', '--limit', '1'], environment)
    expect(shown.stdout).toContain('code v2')
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
    const published = await headOf()

    expect(await note('')).toBe('FAILED')
    const records = (): unknown[] =>
      stderr()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as unknown)
    await expect.poll(() => records().length, WAIT).toBe(2)
    // By default only of the tasks that have ended.
    expect(records()).toMatchObject([
      { message: 'the task is done', task: 'notes.write', outputRef: published, changed: { written: 1 } },
      { message: 'the task did not succeed', task: 'notes.write', error: { code: 'task/terminal' } },
    ])

    const second = await project.run(['start', 'tasks.ts'], environment)
    expect(second.code).toBe(3)
    expect(second.stderr).toMatch(new RegExp(`process ${child.pid ?? '?'} .*\\[runtime/root-taken\\]`))

    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    for (const url of urls) await expect(fetch(`${url!}/healthz`)).rejects.toThrow()
  })

  test('CL-172 one line for each task that has ended, as people read it; none with --quiet', async () => {
    const pretty = { ...environment, PERAGO_LOG_FORMAT: 'pretty' }
    const loud = project.start(['start', 'tasks.ts'], pretty)
    await loud.firstLine
    await note('hello')
    await note('')
    loud.child.kill('SIGTERM')
    expect((await loud.ended).stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(
        /^\S+ ✓ notes\.write {2}workflow \S+ {2}published [0-9a-f]{12}: 1 file written {2}\d+\.\d s$/,
      ),
      expect.stringMatching(
        /^\S+ ✗ failed for good notes\.write .* there is nothing to write \[task\/terminal\] {2}/,
      ),
    ])
    const quiet = project.start(['start', 'tasks.ts', '--quiet'], pretty)
    await quiet.firstLine
    await note('again')
    quiet.child.kill('SIGTERM')
    expect((await quiet.ended).stderr).toBe('')
  })

  test('CL-173 started with npx, it stops in order when npx is asked to', async () => {
    await mkdir(join(project.directory, 'node_modules/.bin'))
    await symlink('../perago/bin/perago.cjs', join(project.directory, 'node_modules/.bin/perago'))
    const npx = spawn('npx', ['perago', 'start', 'tasks.ts'], {
      cwd: project.directory,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    npx.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await expect.poll(() => said, WAIT).toMatch(/^ready 1 worker in /m)
    const { pid } = JSON.parse(
      await readFile(join(project.directory, '.perago/work/supervisor.json'), 'utf8'),
    ) as { pid: number }
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    })
    npx.kill('SIGTERM')
    await expect.poll(() => isAlive(pid), WAIT).toBe(false)
    // Another may start at once, and what ended in order has left nothing behind.
    const next = project.start(['start', 'tasks.ts'], environment)
    expect(await next.firstLine).toMatch(/^ready 1 worker in /)
    expect(await readdir(join(project.directory, '.perago/work/workers'))).toHaveLength(1)
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
