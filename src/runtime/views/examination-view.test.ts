import { expect, onTestFinished, test } from 'vitest'
import { startEmbeddedLakefs } from '../../embedded/lakefs/server.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { openExaminationView, type ExaminationParts } from './examination-view.ts'

const examine = async (parts: Partial<ExaminationParts>) =>
  (
    await openExaminationView({
      examineHost: () => Promise.resolve([]),
      configuration: {},
      ...parts,
    }).examine()
  ).checks
const poller = { taskType: 't', domain: undefined, waiting: 2, polls: [], isUnpolled: true }

test('DO-149 an examination names what is well, what is not, and what to do about it', async () => {
  const lakefs = await startEmbeddedLakefs({ repositories: ['lake'] })
  onTestFinished(() => lakefs.close())
  const { url: endpoint, accessKeyId, secretAccessKey } = lakefs
  const settings = { endpoint, credentials: { accessKeyId, secretAccessKey }, connections: 2 }
  const found = await examine({
    configuration: { lakefs: settings, conductor: { serverUrl: 'http://127.0.0.1:1/api', auth: undefined } },
    readPollers: () => Promise.resolve({ pollers: [poller], isWhole: true }),
  })
  expect(found.map(({ name, state }) => `${name} ${state}`)).toEqual([
    ...['store ok', 'lakeFS ok', 'Conductor fail', 'queue t warn'],
  ])
  expect(found[1]?.text).toContain(endpoint)
  expect(found[3]).toMatchObject({ text: '2 tasks wait, and no worker has ever asked for it' })
  const wrong = { ...settings, credentials: { accessKeyId, secretAccessKey: 'wrong-secret' } }
  const [, refused] = await examine({ configuration: { lakefs: wrong } })
  expect(refused).toMatchObject({ name: 'lakeFS', state: 'fail' })
  expect(JSON.stringify(refused)).not.toContain('wrong-secret')
})

test('DO-149 what does not answer is reported in time, and hides nothing else', async () => {
  const found = await examine({
    ...{ maxMs: 20, examineHost: () => Promise.resolve(['the disk is full']) },
    readPollers: () => new Promise(() => undefined),
  })
  expect(found).toMatchObject([
    { name: 'store', state: 'fail', text: 'the disk is full' },
    { name: 'queues', state: 'fail', text: 'examine queues: it did not end in time' },
  ])
})

test('DO-149 many who ask at once cause one examination', async () => {
  const clock = new ManualClock()
  let count = 0
  const view = openExaminationView({
    ...{ configuration: {}, clock },
    examineHost: () => Promise.resolve([`${(count += 1)}`]),
  })
  await Promise.all([view.examine(), view.examine()])
  expect(count).toBe(1)
  await clock.advance(6_000)
  await view.examine()
  expect(count).toBe(2)
})
