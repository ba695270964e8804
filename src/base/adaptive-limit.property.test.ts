import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAdaptiveLimit } from './adaptive-limit.ts'
import { UnavailableError } from './errors.ts'

// Goal: whatever order operations end, fail and are aborted in, the limit is kept, nobody is overtaken, all get through.
test('BA-46 under any schedule the limit is kept, the order is kept, and everybody gets a turn', async () => {
  const kind = fc.constantFrom('success', 'overload', 'failure', 'aborted')
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(kind, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 6 }),
      async (scheduler, kinds, initial) => {
        const limit = createAdaptiveLimit({ initial, min: 1, max: 6 })
        const begun: number[] = []
        const outcomes = kinds.map((kind, index) => {
          const controller = new AbortController()
          const outcome = limit.run(
            async () => {
              begun.push(index)
              expect(limit.running).toBeLessThanOrEqual(6)
              await scheduler.schedule(Promise.resolve(), `end ${index}`)
              if (kind === 'overload') throw new UnavailableError('base/x', 'x', { details: { status: 503 } })
              if (kind === 'failure') throw new Error('failed')
            },
            { signal: controller.signal },
          )
          if (kind === 'aborted') {
            scheduler.schedule(Promise.resolve(), `abort ${index}`).then(
              () => controller.abort(new Error('aborted')),
              () => undefined,
            )
          }
          return outcome.then(
            () => 'success',
            (error: unknown) => (error as Error).message,
          )
        })
        await scheduler.waitIdle()
        const settled = await Promise.all(outcomes)
        expect(begun).toEqual([...begun].sort((left, right) => left - right))
        for (const [index, kind] of kinds.entries()) {
          if (kind === 'success') expect(settled[index]).toBe('success')
          if (kind !== 'aborted') expect(begun).toContain(index)
        }
        expect([limit.running, limit.waiting]).toEqual([0, 0])
        expect(limit.limit).toBeGreaterThanOrEqual(1)
        expect(limit.limit).toBeLessThanOrEqual(6)
      },
    ),
    { numRuns: 200 },
  )
})
