import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { UnavailableError } from './errors.ts'
import { seededRandom } from './random.ts'
import { retry } from './retry.ts'

// Goal: no history of failures makes a retry exceed its budget of tries or of time, and no wait is shorter than asked.
test('BA-13 neither the tries nor the time ever exceed their budget', async () => {
  const failure = fc.record({
    tookMs: fc.integer({ min: 0, max: 2000 }),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 4000 }), { nil: undefined }),
  })
  const budget = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 8 }),
    maxElapsedMs: fc.integer({ min: 0, max: 8000 }),
    firstDelayMs: fc.integer({ min: 1, max: 500 }),
    maxDelayMs: fc.integer({ min: 1, max: 2000 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(failure, { minLength: 10, maxLength: 10 }),
      budget,
      fc.nat(),
      async (failures, policy, seed) => {
        const clock = new ManualClock()
        const begunAtMs: number[] = []
        const failedAtMs: number[] = []
        const outcome = retry(
          async (attempt) => {
            begunAtMs.push(clock.monotonicMs())
            const { tookMs = 0, retryAfterMs } = failures[attempt - 1] ?? {}
            await clock.sleep(tookMs)
            failedAtMs.push(clock.monotonicMs())
            throw new UnavailableError(
              'base/away',
              'away',
              retryAfterMs === undefined ? {} : { retryAfterMs },
            )
          },
          { clock, random: seededRandom(seed), policy },
        )
        await expect(clock.run(outcome)).rejects.toThrow('away')

        expect(begunAtMs.length).toBeLessThanOrEqual(policy.maxAttempts)
        // 1e-6: sums of fractions of milliseconds.
        expect(begunAtMs.at(-1)).toBeLessThanOrEqual(policy.maxElapsedMs + 1e-6)
        for (let next = 1; next < begunAtMs.length; next++) {
          const waitedMs = (begunAtMs[next] ?? NaN) - (failedAtMs[next - 1] ?? NaN)
          const askedMs = failures[next - 1]?.retryAfterMs ?? 0
          expect(waitedMs).toBeGreaterThanOrEqual(askedMs - 1e-6)
          expect(waitedMs).toBeLessThanOrEqual(askedMs + policy.maxDelayMs + 1e-6)
        }
      },
    ),
    { numRuns: 150 },
  )
})
