// The command as it is shipped, against an embedded server.
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { openProject, type Ended } from '../../test/support/cli/command.ts'
import { publishAsPython } from '../../test/support/peer/as-python.ts'
import { bytes, commitOf, MAIN } from '../../test/conformance/versioned-repo-cases/world.ts'
import { branchName, repositoryName } from '../base/ids.ts'
import { startEmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { createRepository } from '../lakefs/administration.ts'
import { createLakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../publication/ports.ts'

interface World {
  readonly repo: VersionedRepo
  readonly fence: (act: string, ...more: readonly string[]) => Promise<Ended>
  readonly doctor: (...more: readonly string[]) => Promise<Ended>
}

async function openWorld(): Promise<World> {
  const server = await startEmbeddedLakefs()
  const client = createLakefsClient({ ...server, endpoint: server.url })
  const project = await openProject()
  onTestFinished(async () => {
    await project.close()
    await client.close()
    await server.close()
  })
  const repository = repositoryName(`fences-${randomBytes(4).toString('hex')}`)
  await createRepository(client, { repository, storageNamespace: `local://${repository}` })
  const environment = {
    LAKEFS_ENDPOINT: server.url,
    LAKEFS_ACCESS_KEY_ID: server.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: server.secretAccessKey,
  }
  const fence: World['fence'] = (act, ...more) =>
    project.run(['fence', act, repository, ...more], environment)
  const doctor: World['doctor'] = (...more) => project.run(['doctor', ...more], environment)
  return { repo: openLakefsRepo(client, repository), fence, doctor }
}

test('CL-120 a fence is shown first, installed on confirmation, evaluated, and removed', async () => {
  const { repo, fence } = await openWorld()
  const { ref } = await commitOf(repo, MAIN, { a: '1' })
  const dry = await fence('install', '--dry-run')
  expect(dry.stdout).toBe('main  absent  not protected\n1 branches would be changed\n')
  const unconfirmed = await fence('install')
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('cli/not-confirmed')])
  expect((await repo.readBranch(MAIN))?.head).toBe(ref)

  const installed = await fence('install', '--yes', '--protect')
  expect([installed.code, installed.stdout]).toEqual([
    0,
    'main  installed  protected\nlakeFS evaluates the fence\n',
  ])
  const [head] = await logOf(repo)
  expect(head).toMatchObject({ parents: [ref], metadata: { 'publish.actor': 'fence' } })
  const status = await fence('status')
  expect([status.code, status.stdout]).toEqual([0, installed.stdout])
  const removed = JSON.parse((await fence('remove', '--yes', '--json')).stdout) as unknown
  expect(removed).toMatchObject({ branches: [{ branch: 'main', file: 'absent' }], changed: ['main'] })
})

test('CL-121 where the folder has what perago did not put there, no branch is changed', async () => {
  const { repo, fence } = await openWorld()
  const { ref } = await commitOf(repo, MAIN, { a: '1' })
  const dev = branchName('dev')
  await repo.createBranch({ branch: dev, from: ref })
  const body = bytes('name: other\non:\n  pre-merge: {}\nhooks: []\n')
  await repo.write({ branch: dev, path: '_lakefs_actions/other.yaml', body })
  await repo.commit({ branch: dev, message: 'an action of their own' })
  const refused = await fence('install', '--branch', 'main', '--branch', 'dev', '--yes')
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('_lakefs_actions/other.yaml')])
  expect((await repo.readBranch(MAIN))?.head).toBe(ref)
})

test('CL-122 doctor says which fence holds on a branch, and names who publishes without one', async () => {
  const { repo, fence, doctor } = await openWorld()
  await commitOf(repo, MAIN, { a: '1' })
  const place = ['--branch', `${repo.repository}/main`]
  const soft = await doctor(...place)
  expect([soft.code, soft.stderr]).toEqual([0, ''])
  expect(soft.stdout).toMatch(/^branch +\S+\/main: soft fence: no fence is installed$/m)

  await fence('install', '--yes')
  const { merged } = await publishAsPython(repo, { b: '2' })
  const hard = await doctor(...place)
  expect([hard.code, hard.stderr]).toEqual([0, ''])
  expect(hard.stdout).toMatch(/^branch +\S+: hard fence: the fence is installed, and lakeFS evaluates it$/m)
  expect(hard.stdout).toContain(
    `- published without a hard fence: the Python package, which knows no fence: 1 commit, the newest ${merged.slice(0, 12)}\n`,
  )
  const json = await doctor('--json', ...place, '--branch', `${repo.repository}/absent`)
  expect(json.code).toBe(2)
  expect(JSON.parse(json.stdout)).toMatchObject({
    branches: [
      { branch: 'main', strength: 'hard', withoutFence: [{ kind: 'python', commits: 1 }] },
      { branch: 'absent', error: { code: 'publication/no-such-branch' } },
    ],
  })
  // The canary has left nothing.
  const branches = []
  for await (const { branch } of repo.listBranches({ hidden: true })) branches.push(branch)
  expect(branches.filter((name) => name.startsWith('perago-actor-'))).toEqual([])
})

async function logOf(repo: VersionedRepo) {
  const commits = []
  for await (const commit of repo.log(MAIN, { limit: 2 })) commits.push(commit)
  return commits
}
