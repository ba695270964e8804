// Goal: ways in which a worker can lose, hide or damage data, each tried on a lakeFS API, and none of them happens.
// Method: one task, run as a worker runs it, on a repository of its own. Where requests must fail on purpose the server is
// the embedded one; otherwise it is whichever the environment names.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { branchName, repositoryName, type CommitRef, type RepositoryName } from '../../src/base/ids.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository, deleteRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { plainRedactor } from '../../src/base/redaction.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import type { RunOutcome } from '../../src/worker/attempt/attempt-state.ts'
import { mapFailure } from '../../src/worker/results/failure-map.ts'
import { runTask } from '../../src/runtime/run-task.ts'
import { bodyOf, filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'

const TASKS_PATH = fileURLToPath(new URL('../support/must-not/data-tasks.ts', import.meta.url))
const MAIN = branchName('main')

interface Server {
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly storageNamespace: string
}

let server: Server
let client: LakefsClient
let directory: string
let repository: RepositoryName
let repo: VersionedRepo

async function openRepository(at: Server): Promise<void> {
  server = at
  directory = await mkdtemp(join(tmpdir(), 'perago-must-not-'))
  client = createLakefsClient({ ...server, endpoint: server.url })
  repository = repositoryName(`must-not-${randomBytes(6).toString('hex')}`)
  const storageNamespace = `${server.storageNamespace.replace(/\/+$/, '')}/${repository}`
  await createRepository(client, { repository, storageNamespace, defaultBranch: MAIN })
  repo = openLakefsRepo(client, repository)
}

afterEach(async () => {
  await deleteRepository(client, repository)
  await client.close()
  await rm(directory, { recursive: true, force: true })
})

async function put(files: Readonly<Record<string, string>>): Promise<CommitRef> {
  for (const [path, text] of Object.entries(files))
    await repo.write({ branch: MAIN, path, body: bodyOf(text) })
  return commit()
}

async function commit(): Promise<CommitRef> {
  const outcome = await repo.commit({ branch: MAIN, message: 'Input' })
  if (!outcome.committed) throw new Error(outcome.reason)
  return outcome.commit.ref
}

interface Ran {
  readonly result: { readonly status: string; readonly reasonForIncompletion?: string }
  readonly publication: RunOutcome['publication']
}

/** Runs a task without a queue; its status is what a worker would report. */
async function run(task: string, params: { readonly begun?: string } = {}): Promise<Ran> {
  const { url, accessKeyId, secretAccessKey } = server
  const { error, publication } = await runTask(
    {
      lakefs: { endpoint: url, credentials: { accessKeyId, secretAccessKey }, connections: 8 },
      conductor: { serverUrl: undefined, auth: undefined },
      log: { level: 'warn', format: 'json' },
    },
    TASKS_PATH,
    { task, params, workspace: { repository, branch: MAIN } },
    { root: join(directory, 'root'), logger: silentLogger, signal: new AbortController().signal },
  )
  if (error === undefined) return { result: { status: 'COMPLETED' }, publication }
  const { status, reason } = mapFailure(error, { redactor: plainRedactor })
  return { result: { status, reasonForIncompletion: reason }, publication }
}

const headOf = async (): Promise<CommitRef | undefined> => (await repo.readBranch(MAIN))?.head

/** What the branch shows above a commit: paths, with what became of them. */
async function changedSince(from: CommitRef): Promise<string[]> {
  const changes: string[] = []
  for await (const { path, change } of repo.diff(from, (await headOf()) ?? from))
    changes.push(`${change} ${path}`)
  return changes
}

describe('on a lakeFS', () => {
  const lakefs = useRealServer('lakefs')
  beforeEach(async (context) => {
    const { url, facts } = lakefs(context)
    const { accessKeyId = '', secretAccessKey = '', storageNamespace = '' } = facts
    await openRepository({ url, accessKeyId, secretAccessKey, storageNamespace })
  })

  test.each(['sweep-tree', 'sweep-attempt'])(
    'IO-20 a body whose directory was swept away does not publish an empty tree (%s)',
    async (task) => {
      const input = await put({ 'data/in.txt': 'in' })
      const { result, publication } = await run(task)
      expect([result.status, publication]).toEqual(['FAILED', undefined])
      expect(await headOf()).toBe(input)
      expect(await stagingBranchesOf(repo)).toEqual([])
    },
  )

  test('IO-21 untouched objects do not lose content type and metadata, and do not show as changed', async () => {
    const names = ['untouched', 'touched', 'rewritten', 'changed']
    const contentType = 'application/x-measurements'
    for (const name of names)
      await repo.write({
        ...{ branch: MAIN, path: `data/${name}.bin`, body: bodyOf(name), contentType },
        metadata: { origin: name },
      })
    const input = await commit()
    const { result } = await run('touch')
    expect(result.status).toBe('COMPLETED')
    expect(await changedSince(input)).toEqual(['changed data/changed.bin'])
    for (const name of names)
      expect(await repo.stat(MAIN, `data/${name}.bin`)).toMatchObject({
        contentType,
        metadata: { origin: name },
      })
  })

  test('IO-22 a file named like a marker is not left out, and guardrails see no marker', async () => {
    await put({
      'data/.perago-attempt.json': 'one',
      'data/deep/.perago-attempt.json': 'two',
      'data/attempt.json': 'three',
    })
    const { result } = await run('marker')
    expect(result).toMatchObject({ status: 'COMPLETED' })
    expect(await filesOf(repo)).toEqual({
      'data/.perago-attempt.json': 'one and more',
      'data/deep/.perago-attempt.json': 'two and more',
      'data/attempt.json': 'three and more',
      'data/deep/new.perago-attempt.json': 'new',
    })
  })

  test('IO-22 an empty workspace is empty to its guardrails', async () => {
    await put({ elsewhere: 'x' })
    expect((await run('empty')).result).toMatchObject({ status: 'COMPLETED' })
  })

  test('IO-23 keys that cannot be files do not wedge a branch: they are named before anything is written, or excluded', async () => {
    const keys = ['data/dir/', 'data/a//b', 'data/p', 'data/p/q']
    const input = await put(Object.fromEntries([...keys, 'data/in.txt'].map((key) => [key, 'x'])))
    const begun = join(directory, 'begun')
    const { result } = await run('idle', { begun })
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    for (const key of keys) expect(result.reasonForIncompletion).toContain(key)
    expect(existsSync(begun)).toBe(false)
    expect(await headOf()).toBe(input)

    expect((await run('write-around')).result.status).toBe('COMPLETED')
    expect(await changedSince(input)).toEqual(['changed data/in.txt'])
  })

  test('IO-24 a name with a backslash is not taken for a path', async () => {
    const input = await put({ 'data/a\\b.txt': 'in' })
    expect((await run('backslash')).result.status).toBe('COMPLETED')
    expect((await changedSince(input)).toSorted()).toEqual(['added data/c\\d.txt', 'changed data/a\\b.txt'])
    expect(await filesOf(repo)).toEqual({ 'data/a\\b.txt': 'IN', 'data/c\\d.txt': 'new' })
  })

  test('IO-25 an edit of equal size at the time of the lay-out is not missed', async () => {
    const input = await put({ 'data/in.txt': 'in' })
    expect((await run('same-size')).result.status).toBe('COMPLETED')
    expect(await changedSince(input)).toEqual(['changed data/in.txt'])
    expect(await filesOf(repo)).toEqual({ 'data/in.txt': 'IN' })
  })
})

describe('on a server in trouble', () => {
  let embedded: EmbeddedLakefs
  let input: CommitRef
  beforeAll(async () => {
    embedded = await startEmbeddedLakefs({})
  })
  afterAll(() => embedded.close())
  beforeEach(async () => {
    await openRepository({ ...embedded, storageNamespace: 'local://must-not' })
    input = await put({ 'data/in.txt': 'in', 'data/old.txt': 'old', elsewhere: 'x' })
  })
  afterEach(() => embedded.faults.clear())

  const CALLS = [
    ...(['getBranch', 'listObjects', 'getObject', 'createBranch', 'uploadObject', 'deleteObjects'] as const),
    ...(['commit', 'diffRefs', 'logCommits', 'mergeIntoBranch', 'deleteBranch'] as const),
  ]
  test.each([429, 500, 502, 503] as const)(
    'IO-26 one %i of any request does not fail the attempt',
    async (status) => {
      let struck = 0
      for (const operation of CALLS)
        embedded.faults.add({
          ...{ operation, times: 1, fault: { kind: 'answer', status } as const },
          when: () => (struck++, true),
        })
      const { result, publication } = await run('write')
      expect([result.status, publication?.action]).toEqual(['COMPLETED', 'merged'])
      expect(struck).toBe(CALLS.length)
      expect((await logOf(repo)).slice(0, 2).map(({ ref }) => ref)).toEqual([publication?.outputRef, input])
      expect(await filesOf(repo)).toEqual({ 'data/in.txt': 'changed', 'data/new.txt': 'new', elsewhere: 'x' })
      expect(await stagingBranchesOf(repo)).toEqual([])
    },
  )

  test.each(['uploadObject', 'deleteObjects', 'commit'] as const)(
    'IO-27 a failed %s does not leave a staging branch behind',
    async (operation) => {
      embedded.faults.add({ operation, fault: { kind: 'answer', status: 503 } })
      const { result } = await run('write')
      expect(result.status).toBe('FAILED')
      expect(embedded.faults.history.map((seen) => seen.operation)).toContain('createBranch')
      expect(await stagingBranchesOf(repo)).toEqual([])
      expect(await headOf()).toBe(input)
    },
  )
})
