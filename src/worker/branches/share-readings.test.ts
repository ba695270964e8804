import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../testing/manual-clock.ts'
import { shareReadings } from './share-readings.ts'

function open(): {
  readonly ask: () => Promise<number>
  readonly clock: ManualClock
  readonly begun: number[]
  readonly stop: AbortController
  readonly end: (trouble?: Error) => void
} {
  const clock = new ManualClock()
  const stop = new AbortController()
  const begun: number[] = []
  let settle: (trouble: Error | undefined) => void = () => undefined
  const ask = shareReadings(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = begun.push(clock.monotonicMs())
        settle = (trouble) => (trouble === undefined ? resolve(number) : reject(trouble))
      }),
    { clock, intervalMs: 1_000, signal: stop.signal },
  )
  return { ask, clock, begun, stop, end: (trouble) => settle(trouble) }
}

describe('WK-141 readings are shared', () => {
  test('WK-141 whoever asks while one is under way gets the next, and all of them the same', async () => {
    const { ask, clock, begun, end } = open()
    const first = ask()
    await clock.advance(0)
    const [second, third] = [ask(), ask()]
    await clock.advance(5_000)
    expect(begun).toEqual([0])
    end()
    expect(await first).toBe(1)
    await clock.advance(0)
    expect(begun).toEqual([0, 5_000])
    end()
    expect(await Promise.all([second, third])).toEqual([2, 2])
  })

  test('WK-141 they begin no closer together than they may', async () => {
    const { ask, clock, begun, end } = open()
    const first = ask()
    await clock.advance(0)
    end()
    await first
    const second = ask()
    await clock.advance(999)
    expect(begun).toEqual([0])
    await clock.advance(1)
    expect(begun).toEqual([0, 1_000])
    end()
    await second
  })

  test('WK-141 one that fails fails for whoever waited for it, and for nobody after', async () => {
    const { ask, clock, end } = open()
    const first = ask()
    await clock.advance(0)
    const second = ask()
    end(new Error('no answer'))
    await expect(first).rejects.toThrow('no answer')
    await clock.advance(1_000)
    end()
    expect(await second).toBe(2)
  })

  test('WK-141 none begins after the end', async () => {
    const { ask, clock, begun, stop, end } = open()
    const first = ask()
    await clock.advance(0)
    end()
    await first
    const waiting = ask()
    stop.abort(new Error('closed'))
    await expect(waiting).rejects.toThrow('closed')
    await expect(ask()).rejects.toThrow('closed')
    expect(begun).toEqual([0])
  })
})
