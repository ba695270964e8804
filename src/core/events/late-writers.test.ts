// Goal: a writer that has missed what another instance did changes nothing by what it believes.
import { describe, expect, test } from 'vitest'
import { externalEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { UncertainError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { openCore } from '../life-cycle/core.ts'
import type { Store } from '../ports.ts'

/** A store to whose first matching call something happens. */
function interrupted(store: Store, over: Partial<Store>): Store {
  return { ...store, peek: undefined, ...over }
}

/** The first time it is called `once`, then never again. */
function firstTime(once: () => Promise<void>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    isDone = true
    await once()
  }
}

describe.each(STORE_KINDS)('late writers on $kind', ({ open }) => {
  test('E-40 an instance that missed the end records nothing in a log that was cleared since', async (context) => {
    const { core, openOther, store } = await openWorld({ open }, context)
    const execution = await start(core, 'exec_1')
    const late = await (await openOther()).openExecution('exec_1')
    // From now on it knows the record and the end of the log.
    await late.events.publish(externalEvent('external.a'))
    await execution.finish({ status: 'completed' })
    await core.events.clearEvents(execution.id)
    // Every place of the log is free again.
    await expect(late.events.publish(externalEvent('external.late'))).rejects.toMatchObject({
      code: 'core/not-active',
    })
    expect((await store.range({ prefix: 'log:exec_1:' })).entries).toEqual([])
    expect((await store.range({ prefix: 'events:exec_1:' })).entries).toEqual([])
  })

  test('E-113 a forced clearing keeps the event that is published while it removes', async (context) => {
    const { core, store, clock } = await openWorld({ open }, context)
    const execution = await start(core, 'exec_1')
    await execution.events.publish(externalEvent('external.a', { run: 1 }))
    await execution.events.publish(externalEvent('external.b', { run: 1 }))
    const publishAgain = firstTime(async () => {
      await execution.events.publish(externalEvent('external.a', { run: 2 }))
    })
    const slow = interrupted(store, {
      range: async (request, options) => {
        const page = await store.range(request, options)
        // Between the page of latest events and their removal.
        if (request.prefix.startsWith('events:')) await publishAgain()
        return page
      },
    })
    await openCore({ store: slow, clock }).events.clearEvents(execution.id, { force: true })
    expect(await execution.events.get('external.a')).toMatchObject({ payload: { run: 2 } })
    expect(await execution.events.has('external.b')).toBe(false)
    expect((await execution.events.query()).map(({ payload }) => payload)).toEqual([{ run: 2 }])
  })

  test('N-21 an update that was lost while another was made is made again on top of it', async (context) => {
    const { core, openOther, store, clock } = await openWorld({ open }, context)
    const execution = await start(core, 'exec_1')
    const add = (current: Json | undefined): Json => ((current as number | undefined) ?? 0) + 1
    const other = await (await openOther()).openExecution('exec_1')
    const loseFirst = firstTime(async () => {
      await other.variables.update('shared.count', add)
      throw new UncertainError('test/lost', 'commit: the request was lost', { read: 'the store' })
    })
    const losing = interrupted(store, {
      commit: async (batch, options) => {
        await loseFirst()
        return store.commit(batch, options)
      },
    })
    const updating = await openCore({ store: losing, clock }).openExecution('exec_1')
    expect(await updating.variables.update('shared.count', add)).toBe(2)
    expect(await execution.variables.get('shared.count')).toBe(2)
  })
})
