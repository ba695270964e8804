// `perago run --dry-run` and `--watch`, with the shipped command over an embedded lakeFS.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { branchName, repositoryName } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { openProject, type Project } from '../support/cli/command.ts'
import { filesOf } from '../support/publication-world.ts'

const MAIN = branchName('main')
const WAIT = { timeout: 60_000, interval: 50 }
const PLACE = ['--repo', 'lake', '--branch', 'main'] as const

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
  await project.write('tasks.ts', tasks('one'))
})

afterEach(async () => {
  await project.close()
  await client.close()
  await lakefs.close()
})

function tasks(word: string): string {
  return `
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { defineWorkspaceTask, forbidGlob } from 'perago'
import { z } from 'zod'

export const write = defineWorkspaceTask({
  name: 'notes.write',
  owner: 'data@example.org',
  params: z.object({ names: z.array(z.string()) }),
  result: z.object({ files: z.int() }),
  workspace: { prefix: 'notes', post: [forbidGlob('*.tmp')] },
  body: ({ workspace, params: { names } }) => {
    rmSync(workspace.path('old.txt'), { force: true })
    for (const name of names) writeFileSync(workspace.path(name), '${word}')
    return { files: names.length }
  },
})
`
}

async function headOf(): Promise<string> {
  const found = await repo.readBranch(MAIN)
  return found!.head
}

test('CL-184 a dry run checks and shows what would be published, and publishes nothing', async () => {
  const run = (params: string, ...more: string[]) =>
    project.run(['run', 'notes.write', 'tasks.ts', ...PLACE, '--params', '-', ...more], environment, params)
  expect((await run('names: [old.txt, kept.txt]')).code).toBe(0)
  const before = await headOf()

  const { code, stdout, stderr } = await run('names: [new.txt, kept.txt]', '--dry-run')
  expect(code).toBe(0)
  expect(stderr).not.toContain('publish')
  expect(stdout.replace(/ +/g, ' ')).toBe(
    [
      'notes.write dry run: nothing was published; it would be, to main',
      'add notes/new.txt 3 B',
      'delete notes/old.txt',
      'result {"files":2}\n',
    ].join('\n'),
  )
  const document: unknown = JSON.parse((await run('names: [kept.txt]', '--dry-run', '--json')).stdout)
  expect(document).toMatchObject({
    publication: null,
    planned: { branch: 'main', isHead: true, uploads: [], deletes: ['notes/old.txt'] },
  })
  const refused = await run('names: [a.tmp]', '--dry-run')
  expect(refused.stderr).toContain('a.tmp')
  expect(refused.code).toBe(2)
  expect(await headOf()).toBe(before)
  expect(Object.keys(await filesOf(repo))).toEqual(['notes/kept.txt', 'notes/old.txt'])

  await run('names: [more.txt]')
  const late = await run('names: [late.txt]', '--dry-run', '--ref', before)
  expect([late.code, late.stdout]).toEqual([3, ''])
  expect(late.stderr).toContain('the body did not run')
})

test('CL-185 --watch runs again when a source file changes, and publishes what is unchanged once', async () => {
  await project.write('names.yaml', 'names: [note.txt]\n')
  const watching = project.start(
    ['run', 'notes.write', 'tasks.ts', ...PLACE, '--params', '@names.yaml', '--watch'],
    environment,
  )
  const rounds = (): number => watching.stderr().split('waiting for a change').length - 1
  await expect.poll(rounds, WAIT).toBe(1)
  const first = await headOf()
  expect((await filesOf(repo))['notes/note.txt']).toBe('one')

  await project.write('tasks.ts', `${tasks('one')}// the same, written otherwise\n`)
  await expect.poll(rounds, WAIT).toBe(2)
  expect(await headOf()).toBe(first)
  expect(watching.stdout()).toContain('nothing changed, nothing to publish')

  await project.write('tasks.ts', 'export const = 1')
  await expect.poll(rounds, WAIT).toBe(3)
  expect(watching.stderr()).toContain('[worker/module-failed]')

  await project.write('tasks.ts', tasks('two'))
  await expect.poll(rounds, WAIT).toBe(4)
  expect((await filesOf(repo))['notes/note.txt']).toBe('two')

  await project.write('names.yaml', 'names: [note.txt, other.txt]\n')
  await expect.poll(rounds, WAIT).toBe(5)
  expect((await filesOf(repo))['notes/other.txt']).toBe('two')

  watching.child.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 0 })
})

test('CL-185 a run under way is ended with the watch, as one signal ends it', async () => {
  await project.write(
    'tasks.ts',
    tasks('one').replace(
      'body: ({ workspace, params: { names } }) => {',
      `body: async ({ workspace, params: { names }, signal }) => {
    process.stderr.write('body runs\\n')
    await setTimeout(600_000, undefined, { signal })`,
    ),
  )
  const before = await headOf()
  const watching = project.start(
    ['run', 'notes.write', 'tasks.ts', ...PLACE, '--params', '{"names": ["a"]}', '--watch'],
    environment,
  )
  await expect.poll(() => watching.stderr(), WAIT).toContain('body runs')
  watching.child.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 0 })
  expect(watching.stderr()).toContain('[cli/stopped]')
  expect(await headOf()).toBe(before)
})

test('CL-184 CL-185 what a pipeline or a fixed commit cannot do is refused', async () => {
  for (const [args, problem] of [
    [['orders.daily', '--dry-run'], '--dry-run is for one task of a module'],
    [['orders.daily', '--watch'], '--watch is for one task of a module'],
    [['notes.write', 'tasks.ts', ...PLACE, '--ref', 'abc', '--watch'], '--ref names one commit'],
  ] as const) {
    const { code, stderr } = await project.run(['run', ...args], environment)
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
  }
})
