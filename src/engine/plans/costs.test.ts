// What readers, writers and subscribers of a shared space cost one another, counted in calls: times are for the bench.
import { expect, test } from 'vitest'
import { readText } from '../../../test/support/source-tree.ts'
import { MemorySharedSpace } from './memory-shared-space.ts'

/** A space with subscribers of `key`, which counts their calls and notes how many run inside one another. */
function counted(key: string, subscribers: number) {
  const space = new MemorySharedSpace()
  const seen = { calls: 0, atOnce: 0, most: 0 }
  for (let index = 0; index < subscribers; index++)
    space.Subscribe(key, () => {
      seen.calls += 1
      seen.atOnce += 1
      seen.most = Math.max(seen.most, seen.atOnce)
      seen.atOnce -= 1
    })
  return { space, seen }
}

test('P-82 many readers are cheap: a read calls nobody, and waits neither for a writer nor for its subscribers', () => {
  const { space, seen } = counted('rows', 50)
  space.Set('rows', 1)
  const before = seen.calls
  let read = 0
  // The writer is in the middle of notifying.
  space.Subscribe('other', () => {
    for (let reader = 0; reader < 1_000; reader++) read += space.Get('rows') as number
  })
  space.Set('other', 0)
  expect([read, seen.calls]).toEqual([1_000, before])
})

test('P-82 writers compete: each write calls all subscribers of its key, one after the other, before the next one begins', async () => {
  const { space, seen } = counted('rows', 50)
  const order: string[] = []
  space.Subscribe('rows', (_, value) => order.push(`told ${String(value)}`))
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    await Promise.resolve()
    space.Set('rows', writer)
    order.push(`wrote ${writer}`)
  })
  await Promise.all(writers)
  expect([seen.calls, seen.most]).toEqual([20 * 50, 1])
  expect(order).toEqual(writers.flatMap((_, writer) => [`told ${writer}`, `wrote ${writer}`]))
})

test('P-82 subscribers cost the writers of their own key alone, and the guide says all of this', () => {
  for (const subscribers of [0, 1, 1_000]) {
    const { space, seen } = counted('busy', subscribers)
    space.Set('quiet', 1)
    expect(seen.calls).toBe(0)
    space.Set('busy', 1)
    expect(seen.calls).toBe(subscribers)
  }
  const guide = readText('docs/guides/plans.md').replace(/\s+/g, ' ')
  expect(guide).toContain(
    'Many readers are cheap. Every write calls all subscribers of its key one after the other',
  )
})
