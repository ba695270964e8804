// Goal: what a step writes is there as a whole or not at all, and never over what somebody else wrote meanwhile.
import { describe, expect, test, type TestContext } from 'vitest'
import { seededRandom } from '../../base/random.ts'
import { openLossyStore, type StoreFault } from '../../../test/support/lossy-store.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import { nodeEvent, StillClock } from '../../../test/support/core-world.ts'
import { executionId, executionKeys } from '../keys.ts'
import type { Store, StorePut } from '../ports.ts'
import { openMaintenance } from './maintenance.ts'
import { openStepWriter, type StepWriter } from './steps.ts'

const ID = executionId('exec_1')
const HEAD = `${executionKeys({ execution: ID }).engine}head`
const ENDED = { type: 'pipeline.failed', source: { entityType: 'pipeline', entityId: 'etl' } } as const
const RESUMED = { type: 'pipeline.resumed', source: { entityType: 'pipeline', entityId: 'etl' } } as const

function state(text: string): StorePut {
  return { do: 'put', key: HEAD, value: new TextEncoder().encode(text) }
}

async function open(
  { open: openStore }: Pick<StoreKind, 'open'>,
  context: TestContext,
  faults: readonly StoreFault[] = [],
): Promise<{
  readonly steps: StepWriter
  readonly store: Store
  readonly first: number
  readonly clock: StillClock
}> {
  const { store } = await openStore(context)
  const clock = new StillClock()
  const pace = { clock, random: seededRandom(3) }
  const calm = openStepWriter({ store, tenant: undefined, pace })
  const first = await calm.start({ id: ID, name: 'etl' }, { state: state('0'), along: () => [] })
  const lossy = openLossyStore(store, faults[Symbol.iterator]())
  const steps = openStepWriter({ store: lossy, tenant: undefined, pace })
  return { steps, store, first, clock }
}

function types(steps: StepWriter): Promise<readonly string[]> {
  return steps.events.queryEvents(ID).then((events) => events.map(({ type }) => type))
}

describe.each(STORE_KINDS)('on $kind', (kind) => {
  test('EN-400 a step is refused after another one, and leaves no event, variable or state', async (context) => {
    const { steps, store, first } = await open(kind, context)
    const step = (text: string, from: number) => ({
      state: state(text),
      from,
      along: steps.encodeVariables(ID, { 'shared.by': text }),
      events: [nodeEvent(`${text}.started`), nodeEvent(`${text}.completed`)],
    })
    const second = await steps.write(ID, step('mine', first))
    await expect(steps.write(ID, step('late', first))).rejects.toMatchObject({ code: 'core/stale' })
    await expect(steps.write(ID, { ...step('late', first), events: [] })).rejects.toMatchObject({
      code: 'core/stale',
    })
    expect(await types(steps)).toEqual(['pipeline.started', 'mine.started', 'mine.completed'])
    expect(await steps.variables.get(ID, 'shared.by')).toBe('mine')
    expect((await store.get(HEAD))?.revision).toBe(second)
  })

  test('EN-400 events of others come between two steps, and refuse neither', async (context) => {
    const { steps, first } = await open(kind, context)
    let from = first
    const outside = Array.from({ length: 5 }, (_, index) =>
      steps.events.publishEvent(ID, {
        type: `external.e${index}`,
        source: { entityType: 'external', entityId: 'x' },
      }),
    )
    for (let index = 0; index < 5; index += 1)
      from = await steps.write(ID, {
        ...{ state: state(String(index + 1)), from, along: [] },
        events: [nodeEvent('a.retrying', { index })],
      })
    await Promise.all(outside)
    expect((await types(steps)).filter((type) => type === 'a.retrying')).toHaveLength(5)
    expect(await types(steps)).toHaveLength(11)
  })

  test.each(['lose-answer', 'lose-request', 'refuse', 'late'] as const)(
    'EN-400 a step that meets "%s" is written once',
    async (fault, ...rest) => {
      const context = rest.at(-1) as unknown as TestContext
      for (const events of [[nodeEvent('a.started')], []]) {
        const { steps, store, first } = await open(kind, context, [fault])
        const revision = await steps.write(ID, { state: state('1'), from: first, along: [], events })
        expect((await store.get(HEAD))?.revision).toBe(revision)
        expect(await types(steps)).toEqual(['pipeline.started', ...events.map(({ type }) => type)])
      }
    },
  )

  test('EN-401 an ended execution runs again where a step reopens it, and no other step is written', async (context) => {
    const { steps, first, store } = await open(kind, context)
    const ended = await steps.write(ID, { state: state('1'), from: first, along: [], events: [ENDED] })
    for (const events of [[], [nodeEvent('a.started')]])
      await expect(
        steps.write(ID, { state: state('2'), from: ended, along: [], events }),
      ).rejects.toMatchObject({ code: 'core/not-active' })
    const index = async () => (await store.range({ prefix: 'ended:' })).entries.length
    expect(await index()).toBeGreaterThan(0)
    const noted = { state: state('noted'), from: ended, along: [], events: [], staysEnded: true }
    const listed = await index()
    const kept = await steps.write(ID, noted)
    expect([(await store.get(HEAD))?.revision, await index()]).toEqual([kept, listed])
    const from = await steps.write(ID, {
      ...{ state: state('2'), from: kept, along: [] },
      events: [RESUMED, nodeEvent('a.started')],
      reopens: true,
    })
    expect(await index()).toBe(0)
    await steps.write(ID, { state: state('3'), from, along: [], events: [nodeEvent('a.completed')] })
    expect(await types(steps)).toEqual([
      'pipeline.started',
      'pipeline.failed',
      'pipeline.resumed',
      'a.started',
      'a.completed',
    ])
  })

  test('EN-401 what is being removed does not run again, and nothing of the engine is left', async (context) => {
    const { steps, first, store, clock } = await open(kind, context)
    const ended = await steps.write(ID, { state: state('1'), from: first, along: [], events: [ENDED] })
    clock.move(1_000)
    const retention = { eventsMs: Infinity, variablesMs: Infinity, checkpointsMs: 500 }
    await openMaintenance({ store, clock, retention }).sweepOnce()
    await expect(
      steps.write(ID, { state: state('2'), from: ended, along: [], events: [RESUMED], reopens: true }),
    ).rejects.toMatchObject({ kind: 'refused' })
    expect((await store.range({ prefix: 'engine' })).entries).toEqual([])
    expect(await types(steps)).toEqual(['pipeline.started', 'pipeline.failed'])
  })
})
