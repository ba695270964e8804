import { expect, test } from 'vitest'
import { StillClock } from '../../../test/support/core-world.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import { leaseKey } from '../keys.ts'
import type { Store } from '../ports.ts'
import { Leadership } from './leadership.ts'

const LEASE_MS = 9_000

function world() {
  const clock = new StillClock()
  const store = openMemoryStore({ space: createMemorySpace(), clock })
  const open = (owner: string, over: Store = store): Leadership =>
    new Leadership({ store: over, name: 'job', owner, clock, leaseMs: LEASE_MS })
  return { clock, store, open }
}

test('DO-25 of instances that ask for a free lease at the same time one gets it', async () => {
  const { open } = world()
  const asked = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => open(owner).hold()))
  expect(asked.filter((held) => held !== false)).toEqual(['taken'])
})

test('DO-25 an instance does not renew a lease that went to another while it asked', async () => {
  const { clock, store, open } = world()
  const other = open('b')
  const overtake = async (): Promise<void> => {
    await store.commit({ operations: [{ do: 'delete', key: leaseKey('job') }] })
    expect(await other.hold()).toBe('taken')
  }
  let isOvertaken = false
  const slow: Store = {
    ...store,
    commit: async (batch, options) => {
      if (isOvertaken) await overtake()
      return store.commit(batch, options)
    },
  }
  const first = open('a', slow)
  expect(await first.hold()).toBe('taken')
  clock.move(LEASE_MS / 2)
  isOvertaken = true
  expect(await first.hold()).toBe(false)
  isOvertaken = false
  expect(await first.hold()).toBe(false)
  // Nor does it give back what is another's by now.
  await first.release()
  expect(await open('c').hold()).toBe(false)
})

test('EN-850 the lease of an owner that has certainly ended is taken at once, that of any other is not', async () => {
  const { clock, store, open } = world()
  const another = (hasEnded: boolean): Leadership =>
    new Leadership({
      ...{ store, name: 'job', owner: 'b', clock, leaseMs: LEASE_MS },
      hasEnded: (owner) => Promise.resolve(owner === 'a' && hasEnded),
    })
  const first = open('a')
  expect(await first.hold()).toBe('taken')
  expect(await another(false).hold()).toBe(false)
  expect(await another(true).hold()).toBe('taken')
  clock.move(LEASE_MS / 2)
  expect(await first.hold()).toBe(false)
})

test('EN-850 two instances that wrongly think each other ended do not take turns', async () => {
  const { clock, store } = world()
  const open = (owner: string): Leadership =>
    new Leadership({
      ...{ store, name: 'job', owner, clock, leaseMs: LEASE_MS },
      hasEnded: () => Promise.resolve(true),
    })
  const [a, b] = [open('a'), open('b')]
  expect([await a.hold(), await b.hold()]).toEqual(['taken', 'taken'])
  for (let looks = 0; looks < 5; looks += 1) {
    clock.move(LEASE_MS / 2)
    expect([await a.hold(), await b.hold()]).toEqual([false, 'held'])
  }
})
