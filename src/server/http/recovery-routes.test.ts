// Recoveries over HTTP: over a real lakeFS client on an embedded server, and the queue in this process.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { SCENARIOS } from '../../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../../test/support/recovery-world.ts'
import { branchName } from '../../base/ids.ts'
import { recoverWithin } from '../../runtime/views/recovery-view.ts'

let lakefs: RecoveryLakefs
let it: RecoveryTestWorld
let world: DoorWorld
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  it = await RecoveryTestWorld.open(lakefs)
  const recoveries = {
    ...recoverWithin((signal, work) => work({ ...it.world, signal })),
    close: () => Promise.resolve(),
  }
  world = openDoorWorld({ page: { recoveries } })
})
afterEach(() => world.close())

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
