// What every shared space promises. Called for each implementation.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { PlanBacking } from '../../src/engine/plans/shared-space.ts'

export function sharedSpaceConformance(name: string, open: () => Promise<PlanBacking>): void {
  describe(`shared space: ${name}`, () => {
    let space: PlanBacking
    beforeEach(async () => {
      space = await open()
    })

    test('P-60 P-68 Set stores a value or replaces it', () => {
      space.Set('k', 1)
      expect(space.Get('k')).toBe(1)
      space.Set('k', 2)
      expect(space.Get('k')).toBe(2)
    })

    test('P-61 P-68 Get of a missing key fails with a not-found error naming the key', () => {
      expect(() => space.Get('nowhere')).toThrow(/"nowhere".*not found/)
      expect(() => space.Get('nowhere')).toThrow(
        expect.objectContaining({ kind: 'missing', code: 'plan/not-found' }),
      )
    })

    test('P-62 P-68 Delete removes a value, and a missing key is no error', () => {
      space.Set('k', 1)
      space.Set('other', 2)
      space.Delete('k')
      space.Delete('k')
      expect(() => space.Get('k')).toThrow(/not found/)
      expect(space.Get('other')).toBe(2)
    })

    test('P-63 P-68 Clear removes all data and calls no subscriber', () => {
      const called = vi.fn()
      space.Set('a', 1)
      space.Set('b', 2)
      for (const key of ['a', 'b', 'Released']) space.Subscribe(key, called)
      space.Clear()
      expect(space.Keys()).toEqual([])
      expect(called).not.toHaveBeenCalled()
      space.Set('a', 3)
      expect(called).toHaveBeenCalledTimes(1)
    })

    test('P-64 P-68 ClearNotify removes all data, then calls the subscribers', () => {
      const seen: unknown[] = []
      space.Set('a', 1)
      space.Set('b', 2)
      for (const key of ['a', 'b', 'Released', 'never-set'])
        space.Subscribe(key, (changed, value, change) =>
          seen.push([changed, value, change, space.Keys().length]),
        )
      space.ClearNotify()
      expect(seen).toEqual([
        ['a', undefined, 'cleared', 0],
        ['b', undefined, 'cleared', 0],
        ['Released', undefined, 'cleared', 0],
      ])
    })

    test('P-65 P-68 a subscriber gets exactly key and value, of its key only', () => {
      const called = vi.fn()
      space.Subscribe('k', called)
      space.Set('k', 5)
      space.Set('other', 1)
      expect(called.mock.calls).toEqual([['k', 5]])
    })

    test('P-66 P-68 Unsubscribe removes all callbacks of the key', () => {
      const [one, two, other] = [vi.fn(), vi.fn(), vi.fn()]
      space.Subscribe('k', one)
      space.Subscribe('k', two)
      space.Subscribe('other', other)
      space.Unsubscribe('k')
      space.Set('k', 1)
      space.Set('other', 1)
      expect([one.mock.calls.length, two.mock.calls.length, other.mock.calls.length]).toEqual([0, 0, 1])
    })

    test.each([0, -1.5, '', 'text', true, null, { deep: { list: [1, null] } }, [1, [2]]])(
      'P-67 P-68 the value %j comes back',
      (value) => {
        space.Set('k', value)
        expect(space.Get('k')).toEqual(value)
        expect(space.Has('k')).toBe(true)
      },
    )

    test('P-70 P-72 Set stores before it notifies, and the callbacks have run when it returns', () => {
      const seen: unknown[] = []
      space.Subscribe('k', () => seen.push(space.Get('k')))
      space.Set('k', 'new')
      expect(seen).toEqual(['new'])
    })

    test('P-69 P-70 a callback can read and write every key, its own too', () => {
      space.Set('other', 'there')
      space.Subscribe('k', (key, value) => {
        space.Set('copy', [space.Get(key), space.Get('other')])
        if (value === 1) space.Set('k', 2)
      })
      space.Set('k', 1)
      expect(space.Get('k')).toBe(2)
      expect(space.Get('copy')).toEqual([2, 'there'])
    })

    test('P-71 every subscriber is called once, in the order of subscription', () => {
      const seen: number[] = []
      for (const id of [1, 2, 3]) space.Subscribe('k', () => seen.push(id))
      space.Set('k', 0)
      expect(seen).toEqual([1, 2, 3])
    })

    test('P-73 Delete calls the subscribers before it returns, with undefined and the kind of change', () => {
      const called = vi.fn()
      space.Set('k', 1)
      space.Subscribe('k', called)
      space.Delete('k')
      space.Delete('k')
      expect(called.mock.calls).toEqual([['k', undefined, 'deleted']])
    })

    test('P-75 a throwing callback undoes nothing, stops no other and does not fail Set', () => {
      const after = vi.fn()
      space.Subscribe('k', () => {
        throw new Error('boom')
      })
      space.Subscribe('k', after)
      expect(() => space.Set('k', 1)).not.toThrow()
      expect(space.Get('k')).toBe(1)
      expect(after).toHaveBeenCalledTimes(1)
    })

    test('P-76 subscriptions inside a callback start with the next Set, and removals too', () => {
      const added = vi.fn()
      const removed = vi.fn()
      space.Subscribe('k', () => {
        space.Unsubscribe('k')
        space.Subscribe('k', added)
      })
      space.Subscribe('k', removed)
      space.Set('k', 1)
      expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([0, 1])
      space.Set('k', 2)
      expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1])
    })

    test('P-75 subscribers that set each other end with an error inside the callback, not with the process', () => {
      space.Subscribe('a', (_, value) => space.Set('b', value))
      space.Subscribe('b', (_, value) => space.Set('a', value))
      expect(() => space.Set('a', 1)).not.toThrow()
      expect(space.Get('a')).toBe(1)
    })

    test('P-77 an existing key is read by any number of readers', async () => {
      space.Set('k', { rows: 3 })
      const read = await Promise.all(Array.from({ length: 100 }, async () => Promise.resolve(space.Get('k'))))
      expect(read).toEqual(Array.from({ length: 100 }, () => ({ rows: 3 })))
    })

    test('P-79 parallel writers leave one of the values, whole', async () => {
      const values = Array.from({ length: 50 }, (_, index) => ({ index, twice: [index, index] }))
      await Promise.all(values.map((value) => Promise.resolve().then(() => space.Set('k', value))))
      expect(values).toContainEqual(space.Get('k'))
    })

    test('P-07 P-14 a hundred interleaved tasks lose no write and no notification', async () => {
      let notified = 0
      const keys = Array.from({ length: 100 }, (_, index) => `k${index}`)
      for (const key of keys) space.Subscribe(key, () => (notified += 1))
      await Promise.all(
        keys.map(async (key) => {
          for (let round = 0; round < 10; round++) {
            await Promise.resolve()
            space.Set(key, round)
          }
        }),
      )
      expect(notified).toBe(1000)
      expect(keys.map((key) => space.Get(key))).toEqual(keys.map(() => 9))
    })

    test('P-125 P-68 Trigger calls the subscribers and stores nothing', () => {
      const called = vi.fn()
      space.Subscribe('k', called)
      space.Trigger('k', 7)
      expect(called.mock.calls).toEqual([['k', 7]])
      expect(space.Has('k')).toBe(false)
    })
  })
}
