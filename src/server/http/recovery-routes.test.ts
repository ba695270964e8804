// Recoveries over HTTP: over a real lakeFS client on an embedded server, and the queue in this process.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { SCENARIOS } from '../../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../../test/support/recovery-world.ts'
import { aborted } from '../../base/abort-signals.ts'
import { branchName } from '../../base/ids.ts'
import type { RecoveryWorld } from '../../recovery/ports.ts'
import { verify } from '../../recovery/verify.ts'
import { recoverWithin } from '../../runtime/views/recovery-view.ts'

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
let world: DoorWorld
/** Instead of the one of the world. */
let queue: Pick<RecoveryWorld, 'queue'> | undefined
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  queue = undefined
  it = await RecoveryTestWorld.open(lakefs)
  world = openWorld()
})
afterEach(() => world.close())

function openWorld(limits?: Parameters<typeof recoverWithin>[1]): DoorWorld {
  const recoveries = {
    ...recoverWithin((signal, work) => work({ ...it.world, ...queue, signal }), limits),
    close: () => Promise.resolve(),
  }
  return openDoorWorld({ page: { recoveries } })
}

interface Preview {
  readonly digest: string
  readonly branches: readonly { readonly offered: readonly { readonly action: string }[] }[]
}

async function post<T>(role: 'viewer' | 'operator', path: string, body: object): Promise<T> {
  const token = await world.tokenFor(role)
  const where = `/repositories/${it.repository}/recoveries${path}`
  return (await (await world.ask(where, { method: 'POST', token, body })).json()) as T
}

test('DO-150 what became of a publication is shown, by its branch and by its workflow, and nothing is changed', async () => {
  const workflow_id = await SCENARIOS['branch-moved'](it)
  const before = await it.head()
  const ofWorkflow = await post<Preview>('viewer', '/preview', { workflow_id })
  expect(ofWorkflow.branches).toMatchObject([
    {
      ...{ branch: 'main', situation: 'branch-moved', is_normal: false, head: before, input_ref: it.input },
      task: { workflow_id, reference_name: 'load' },
    },
  ])
  expect(ofWorkflow.branches[0]?.offered.map(({ action }) => action)).toEqual(['restart', 'quarantine'])
  expect(await post('viewer', '/preview', { branch: 'main' })).toMatchObject({ branches: [{ head: before }] })
  expect(await it.head()).toBe(before)
  expect(await post('viewer', '/preview', {})).toMatchObject({ error: { code: 'api/missing-field' } })
  const other = await RecoveryTestWorld.open(lakefs)
  const token = await world.tokenFor('viewer')
  const path = `/repositories/${other.repository}/recoveries/preview`
  const elsewhere = await world.ask(path, { method: 'POST', token, body: { workflow_id } })
  expect(await elsewhere.json()).toMatchObject({ error: { code: 'runtime/not-in-repository' } })
})

test('DO-151 what is done is what was shown: where anything has changed since, nothing is done', async () => {
  const workflow_id = await SCENARIOS['branch-moved'](it)
  const { digest } = await post<Preview>('viewer', '/preview', { workflow_id })
  const act = { workflow_id, digest, action: 'quarantine', reason: 'a test' }
  expect(await post('viewer', '', act)).toMatchObject({ error: { code: 'api/forbidden' } })
  await it.repo.createBranch({ branch: branchName('other'), from: it.input })
  await it.repo.createTag({ tag: 'unrelated', at: it.input })
  expect(await post('viewer', '/preview', { workflow_id })).toMatchObject({ digest })
  const head = await it.head()
  await it.commit({ 'b.txt': 'by somebody' })
  const moved = await it.head()
  expect(moved).not.toBe(head)
  expect(await post('operator', '', act)).toMatchObject({ error: { code: 'runtime/recovery-changed' } })
  expect(await it.head()).toBe(moved)

  const again = await post<Preview>('viewer', '/preview', { workflow_id })
  const shown = { ...act, digest: again.digest }
  expect(await post('operator', '', { ...shown, reason: undefined })).toMatchObject({
    error: { code: 'recovery/no-reason' },
  })
  expect(await post('operator', '', { ...shown, action: 'adopt' })).toMatchObject({
    error: { code: 'recovery/not-offered' },
  })
  expect(await post('operator', '', shown)).toMatchObject({
    branches: [
      { branch: 'main', action: 'quarantine', done: [{ step: 'keep-head' }, {}, { moved_to: it.input }] },
    ],
  })
  expect(await it.head()).toBe(it.input)
})

interface Verified {
  readonly holds: boolean
  readonly checks: readonly { readonly check: string; readonly refuted: number; readonly next: string }[]
  readonly findings: readonly { readonly check: string; readonly commit: string; readonly why: string }[]
}

async function verified<T = Verified>(query = '', token?: string, door: DoorWorld = world): Promise<T> {
  const where = `/repositories/${it.repository}/branches/main/verification${query}`
  return (await (await door.ask(where, { token: token ?? (await door.tokenFor('viewer')) })).json()) as T
}

async function publishOne(): Promise<void> {
  await it.start(await it.head())
  const task = await it.claim()
  await it.complete(task, await it.publish(task))
}

const spoiled = { 'publish.run': 'r', 'publish.input': 'f'.repeat(64), 'publish.workflow': 'w' }

test('DO-165 a viewer is told which checks of a history hold, each refuted one with its commit, why, and what to do', async () => {
  await publishOne()
  const before = await it.head()
  const whole = { commits: (await it.history()).length, stopped: 'beginning', is_whole: true }
  const good = await verified()
  expect(good).toMatchObject({ holds: true, findings: [], findings_count: 0, ...whole, open_outputs: 0 })
  expect(good.checks.map(({ refuted }) => refuted)).toEqual([0, 0, 0, 0, 0])

  const commit = await it.commit({ x: '1' }, spoiled)
  const bad = await verified()
  const why = `it stands on ${before}, and its task has read ${'f'.repeat(64)}`
  expect(bad).toMatchObject({ holds: false, findings: [{ check: 'expected-parent', commit, why }] })
  const [check] = bad.checks.filter(({ refuted }) => refuted > 0)
  expect(check).toMatchObject({ check: 'expected-parent', refuted: 1 })
  expect(check?.next).toContain('run its workflow again')
  // The same as the command line is told.
  const told = await verify(it.world, { repository: it.repository, branch: branchName('main') })
  expect(told.refuted.map(({ check: name, ref, why: because }) => [name, ref, because])).toEqual(
    bad.findings.map(({ check: name, commit: ref, why: because }) => [name, ref, because]),
  )
  expect(await it.head()).toBe(commit)
})

test('DO-166 a verification walks as far as it is asked, and says how far it came', async () => {
  for (let count = 0; count < 3; count++) await publishOne()
  const [head, second] = (await it.history()).map(({ ref }) => ref)
  expect(await verified('?limit=1')).toMatchObject({ commits: 1, stopped: 'limit', oldest: head })
  expect(await verified(`?since=${second}`)).toMatchObject({ commits: 1, stopped: 'since', is_whole: false })
  expect(await verified('?since=nothing')).toMatchObject({ error: { code: 'recovery/no-such-ref' } })
  for (const query of ['?limit=0', '?limit=10001', '?since=a%20b', '?limit=1&limit=2', '?x=1'])
    expect([query, await verified(query)]).toMatchObject([query, { error: { code: 'api/bad-parameter' } }])
  const path = `/repositories/${it.repository}/branches/no%2Fbranch/verification`
  const wrong = await world.ask(path, { token: await world.tokenFor('viewer') })
  expect(await wrong.json()).toMatchObject({ error: { code: 'base/bad-branch-name' } })
})

test('DO-167 over HTTP a verification ends in time, whatever does not answer, and only so many are made at once', async () => {
  await it.commit({ x: '1' }, spoiled)
  await it.commit({ y: '1' })
  let asked = 0
  const readWorkflow = async (_: unknown, { signal }: { signal?: AbortSignal | undefined } = {}) => {
    asked += 1
    await aborted(signal)
    throw new Error('aborted')
  }
  queue = { queue: { ...it.world.queue!, readWorkflow } }
  const slow = openWorld({ verificationMaxMs: 1_500 })
  try {
    const token = await slow.tokenFor('viewer')
    const ask = () => verified<object>('', token, slow)
    const all = [ask(), ask(), ask(), ask()]
    await expect.poll(() => asked).toBe(4)
    expect(await ask()).toMatchObject({ error: { code: 'runtime/too-many-verifications' } })
    for (const one of await Promise.all(all)) expect(one).toMatchObject({ stopped: 'time', commits: 1 })
    queue = undefined
    expect(await ask()).toMatchObject({ stopped: 'beginning', holds: false })
  } finally {
    await slow.close()
  }
})

test('DO-168 a history is verified for callers of the default tenant, where a server has recoveries', async () => {
  const missing = { error: { code: 'api/no-recoveries' } }
  expect(await verified('', await world.tokenFor('operator', 'north'))).toMatchObject(missing)
  expect(await verified('', 'none')).toMatchObject({ error: { code: 'api/bad-token' } })
  const without = openDoorWorld({})
  expect(await verified('', undefined, without)).toMatchObject(missing)
  await without.close()
})
