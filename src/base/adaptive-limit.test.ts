import { expect, test } from 'vitest'
import { createAdaptiveLimit } from './adaptive-limit.ts'
import { InvalidError, UnavailableError } from './errors.ts'

const busy = (status: number): UnavailableError =>
  new UnavailableError('base/busy', 'busy', { details: { status } })

/** An operation that ends when the test says so. */
function held(): { operation: () => Promise<string>; begun: () => boolean; end: (error?: Error) => void } {
  let begun = false
  const { promise, resolve, reject } = deferred<string>()
  return {
    operation: () => {
      begun = true
      return promise
    },
    begun: () => begun,
    end: (error) => (error === undefined ? resolve('done') : reject(error)),
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('BA-40 no more operations are under way than the limit, and those who wait come in their order', async () => {
  const limit = createAdaptiveLimit({ initial: 2, max: 2 })
  const operations = Array.from({ length: 5 }, held)
  const outcomes = Promise.allSettled(operations.map(({ operation }) => limit.run(operation)))
  await settle()
  const begun = (): number[] => operations.flatMap((operation, index) => (operation.begun() ? [index] : []))
  expect(begun()).toEqual([0, 1])
  expect([limit.running, limit.waiting]).toEqual([2, 3])
  operations[1]!.end()
  await settle()
  expect(begun()).toEqual([0, 1, 2])
  operations[0]!.end()
  operations[2]!.end(new Error('failed, and frees its place all the same'))
  await settle()
  expect(begun()).toEqual([0, 1, 2, 3, 4])
  operations[3]!.end()
  operations[4]!.end()
  const settled = await outcomes
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect([limit.running, limit.waiting]).toEqual([0, 0])
})

test('BA-40 nobody slips past those who wait', async () => {
  const limit = createAdaptiveLimit({ initial: 1, max: 1 })
  const order: string[] = []
  const first = limit.run(() => Promise.resolve(order.push('first')))
  const second = limit.run(() => Promise.resolve(order.push('second')))
  const third = first.then(() => limit.run(() => Promise.resolve(order.push('late'))))
  await Promise.all([first, second, third])
  expect(order).toEqual(['first', 'second', 'late'])
})

test('BA-41 a burst of refusals halves the limit once, a later one again, down to the least', async () => {
  const limit = createAdaptiveLimit({ initial: 8, min: 2 })
  const refuseTogether = async (count: number): Promise<void> => {
    const operations = Array.from({ length: count }, held)
    const outcomes = operations.map(({ operation }) => limit.run(operation))
    for (const operation of operations) operation.end(busy(429))
    await Promise.allSettled(outcomes)
  }
  await refuseTogether(8)
  expect(limit.limit).toBe(4)
  await refuseTogether(4)
  expect(limit.limit).toBe(2)
  await refuseTogether(2)
  expect(limit.limit).toBe(2)
})

test('BA-42 a round of successes adds one place, up to the most; idleness adds none', async () => {
  const limit = createAdaptiveLimit({ initial: 2, max: 4 })
  const succeedTogether = async (count: number): Promise<void> => {
    const operations = Array.from({ length: count }, held)
    const outcomes = operations.map(({ operation }) => limit.run(operation))
    for (const operation of operations) operation.end()
    await Promise.all(outcomes)
  }
  for (let time = 0; time < 20; time++) await succeedTogether(1)
  expect(limit.limit).toBe(2)
  for (let time = 0; time < 2; time++) await succeedTogether(2)
  expect(limit.limit).toBe(3)
  for (let time = 0; time < 20; time++) await succeedTogether(10)
  expect(limit.limit).toBe(4)
})

test.each([
  [busy(429), true],
  [busy(503), true],
  [new UnavailableError('base/x', 'x', { retryAfterMs: 1 }), true],
  [new UnavailableError('base/connection-refused', 'x'), false],
  [new InvalidError('base/x', 'x', { details: { status: 429 } }), false],
  [new Error('503'), false],
])('BA-43 %s means "slow down": %s', async (error, expected) => {
  const limit = createAdaptiveLimit({ initial: 4 })
  await expect(limit.run(() => Promise.reject(error))).rejects.toBe(error)
  expect(limit.limit).toBe(expected ? 2 : 4)
})

test('BA-44 an abort gives up the place in the queue and costs nobody else theirs', async () => {
  const limit = createAdaptiveLimit({ initial: 1, max: 1 })
  const [first, second, third] = [held(), held(), held()]
  const controller = new AbortController()
  const outcomes = [
    limit.run(first.operation),
    limit.run(second.operation, { signal: controller.signal }),
    limit.run(third.operation),
  ]
  await settle()
  controller.abort(new Error('not any more'))
  await expect(outcomes[1]).rejects.toThrow('not any more')
  expect(limit.waiting).toBe(1)
  first.end()
  third.end()
  await expect(Promise.all([outcomes[0], outcomes[2]])).resolves.toEqual(['done', 'done'])
  expect(second.begun()).toBe(false)
  await expect(limit.run(held().operation, { signal: controller.signal })).rejects.toThrow('not any more')
  expect(limit.running).toBe(0)
})

test('BA-45 beyond the longest queue an operation is turned away as unavailable', async () => {
  const limit = createAdaptiveLimit({ initial: 1, max: 1, maxWaiting: 1 })
  const [first, second] = [held(), held()]
  const outcomes = [limit.run(first.operation), limit.run(second.operation)]
  await settle()
  await expect(limit.run(held().operation)).rejects.toMatchObject({
    code: 'base/too-many-waiting',
    kind: 'unavailable',
  })
  first.end()
  second.end()
  await Promise.all(outcomes)
})
