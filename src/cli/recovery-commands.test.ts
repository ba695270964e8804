// The commands as they are shipped, against an embedded server and the queue in this process behind HTTP.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { execFile } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openProject, type Ended } from '../../test/support/cli/command.ts'
import { SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { stagingBranchName } from '../publication/staging-name.ts'
import { serveTestQueue } from '../../test/support/worker/conductor-http.ts'

let lakefs: RecoveryLakefs
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())

async function openWorld() {
  const world = await RecoveryTestWorld.open(lakefs)
  const served = await serveTestQueue(world.queue, {})
  const project = await openProject()
  onTestFinished(async () => {
    await project.close()
    await served.close()
  })
  const environment = { ...lakefs.environment, CONDUCTOR_SERVER_URL: served.url }
  const run = (...args: readonly string[]): Promise<Ended> => project.run(args, environment)
  return { world, run, project, environment }
}

test('RE-14 recover shows first, acts on --apply, and its exit code says whether something is left to decide', async () => {
  const { world, run } = await openWorld()
  const target = await SCENARIOS['abandoned-publication'](world)
  const head = await world.head()
  const shown = await run('recover', target)
  expect([shown.code, shown.stderr]).toEqual([3, expect.stringContaining('cli/needs-decision')])
  expect(shown.stdout).toContain(`${world.place}  abandoned-publication: `)
  expect(shown.stdout).toContain(`perago recover ${target} --apply --action relocate --reason`)
  expect(await world.head()).toBe(head)

  const applied = await run(
    'recover',
    target,
    '--apply',
    '--action',
    'relocate',
    '--reason',
    'a test',
    '--json',
  )
  expect([applied.code, applied.stderr]).toEqual([0, ''])
  expect(JSON.parse(applied.stdout)).toMatchObject({
    branches: [
      {
        situation: 'abandoned-publication',
        task: { workflow_id: target, status: 'FAILED_WITH_TERMINAL_ERROR' },
        done: [
          { step: 'keep-head', tag: `perago-superseded-${head}` },
          { step: 'move-branch', movedTo: world.input },
        ],
      },
    ],
  })
  expect(await world.head()).toBe(world.input)
  const again = await run('recover', world.place)
  expect(again.code).toBe(0)
})

test('RE-24 verify, blame and diff answer text and one document; verify ends with 3 where something is refuted', async () => {
  const { world, run } = await openWorld()
  const target = await SCENARIOS.done(world)
  const head = await world.head()
  const [place, document] = [
    [world.repository, 'main'],
    (ended: Ended) => JSON.parse(ended.stdout) as unknown,
  ]
  const proved = await run('verify', ...place)
  expect([proved.code, proved.stderr]).toEqual([0, ''])
  expect(proved.stdout).toMatch(/^holds +one-commit-per-task /m)
  expect(proved.stdout).toMatch(/^all 3 commits; .*: *\n +task load: 1 commit, the newest [0-9a-f]{12} by /m)
  const ended = await run('verify', ...place, '--limit', '1')
  expect(ended.stdout).toContain(`the newest 1 commits only, down to ${head}; stopped by --limit`)
  const blamed = await run('blame', ...place, 'a.txt')
  expect(blamed.stdout).toContain(`${head.slice(0, 12)}  `)
  expect(document(await run('blame', ...place, '--json'))).toMatchObject({
    commits: [{ ref: head, workflow: target }, {}, {}],
  })
  expect((await run('diff', target)).stdout).toMatch(/^ +changed +a\.txt$/m)
  expect(document(await run('diff', target, '--json'))).toMatchObject({
    tasks: [{ to: head, changes: [{ path: 'a.txt' }] }],
  })

  await world.commit({ x: '1' }, { 'publish.run': 'r', 'publish.input': 'f'.repeat(64) })
  const refuted = await run('verify', ...place, '--json')
  expect(refuted.code).toBe(3)
  expect(document(refuted)).toMatchObject({ holds: false, refuted: [{ check: 'expected-parent' }] })
  const told = await run('verify', ...place)
  expect(told.stdout).toMatch(
    /^REFUTED +expected-parent [^]*^next, expected-parent: Compare it with its parent: /m,
  )
  expect(told.stdout).not.toContain('next, nothing-lost')
})

test('RE-24 gc shows first, and removes with --apply; a directory of which nothing is known stays', async () => {
  const { world, run, project } = await openWorld()
  await world.start()
  const task = await world.claim()
  const branch = stagingBranchName({ ...task, executionId: 'killed' })
  await world.repo.createBranch({ branch, from: world.input })
  await world.fail(task)
  const unknown = join(project.directory, '.perago/work/workers/0123456789abcdef0123456789abcdef')
  await mkdir(unknown, { recursive: true })
  const ages = ['--older-than', '0ms']
  const shown = await run('gc', world.repository, ...ages)
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(`would remove branch ${branch}\n`)])
  expect((await world.repo.readBranch(branch))?.head).toBe(world.input)
  const applied = await run('gc', world.repository, ...ages, '--apply', '--json')
  expect(JSON.parse(applied.stdout)).toMatchObject({
    applied: true,
    branches: { removed: [branch] },
    directories: { due: [], kept: [{}] },
  })
  expect(await world.repo.readBranch(branch)).toBeUndefined()
})

test('RE-25 the example repairs what is safe to repair, and its exit code says that something is left to decide', async () => {
  const { world, project, environment } = await openWorld()
  const other = await RecoveryTestWorld.open(lakefs, world.queue)
  await SCENARIOS['claim-left'](world)
  await SCENARIOS['abandoned-publication'](other)
  await copyFile('examples/recovery/nightly.mjs', join(project.directory, 'nightly.mjs'))
  const options = { cwd: project.directory, env: { PATH: process.env.PATH, ...environment } }
  const ended = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, ['nightly.mjs', world.place, other.place], options, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    )
  })
  expect(ended).toEqual({
    code: 3,
    stdout: `${world.place}: claim-left, done: finish-claim\n${other.place}: abandoned-publication, to be decided: relocate, quarantine, restart\n`,
  })
  expect((await world.history())[1]?.ref).toBe(world.input)
})
