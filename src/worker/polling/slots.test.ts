// Goal: slots go first to those who are likely to need them, and nobody waits for ever.
import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { openSlots } from './slots.ts'

const never = new AbortController().signal
setMaxListeners(0, never)

/** The order in which those who wait get the one slot, each giving it back at once. */
async function orderOf(waiting: readonly (readonly [string, 'surely' | 'maybe'])[]): Promise<string[]> {
  const slots = openSlots(1)
  const release = await slots.take(never)
  const order: string[] = []
  const served = waiting.map(async ([name, need]) => {
    const giveBack = await slots.take(never, need)
    order.push(name)
    giveBack()
  })
  release()
  await Promise.all(served)
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
  return order
}

test('WK-361 who surely needs a slot comes first, otherwise who waited longest', async () => {
  const order = await orderOf([
    ['m1', 'maybe'],
    ['s1', 'surely'],
    ['m2', 'maybe'],
    ['s2', 'surely'],
  ])
  expect(order).toEqual(['s1', 's2', 'm1', 'm2'])
})

test('WK-361 one of five slots goes to who may need none', async () => {
  const sure = Array.from({ length: 9 }, (_, index) => [`s${index}`, 'surely'] as const)
  const order = await orderOf([['m1', 'maybe'], ['m2', 'maybe'], ...sure])
  expect(order.map((name) => name[0]).join('')).toBe('ssssmssssms')
})

test('WK-361 who is called away waits no more', async () => {
  const slots = openSlots(1)
  const release = await slots.take(never)
  const gone = new AbortController()
  const waiting = slots.take(gone.signal, 'maybe')
  gone.abort(new Error('called away'))
  await expect(waiting).rejects.toThrow('called away')
  expect(slots.waiting).toBe(0)
  release()
  expect(slots.taken).toBe(0)
})
