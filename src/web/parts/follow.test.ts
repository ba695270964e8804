import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { follow, type FollowState } from './follow.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A stream that gives these pieces, and then fails, ends or stays open. */
function streamOf(pieces: readonly string[], then: 'end' | 'break' | 'stay'): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = left.shift()
      if (piece !== undefined) {
        controller.enqueue(encode(piece))
        return
      }
      if (then === 'end') controller.close()
      if (then === 'break') controller.error(new TypeError('network error'))
    },
  })
}

describe('following events', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const watch = (open: Parameters<typeof follow>[0]['open'], isPassing = (): boolean => true) => {
    const seen: string[] = []
    const states: FollowState[] = []
    const over = new AbortController()
    const done = follow({
      open,
      isPassing,
      signal: over.signal,
      take: (events) => seen.push(...events.map(({ data }) => data)),
      say: (state) => states.push(state),
    })
    return { seen, states, over, done }
  }

  test('WB-51 a stream that breaks is opened again with the last id, and ends with the event `end`', async () => {
    const asked: (string | undefined)[] = []
    const streams = [
      streamOf(['id: 1\ndata: a\n\n', 'id: 2\ndata: b\n\n'], 'break'),
      streamOf([': nothing yet\n\n'], 'end'),
      streamOf(['id: 3\ndata: c\n\nevent: end\ndata: {}\n\n'], 'stay'),
    ]
    const { seen, states, done } = watch((lastId) => {
      asked.push(lastId)
      return Promise.resolve(streams.shift()!)
    })
    await vi.advanceTimersByTimeAsync(60_000)
    await done
    expect(asked).toEqual([undefined, '2', '2'])
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(states.filter((state) => state !== 'connecting')).toEqual([
      ...['live', 'waiting', 'live', 'waiting', 'live', 'ended'],
    ])
  })

  test('WB-51 a refusal that does not pass ends it, one that passes is asked again ever more rarely', async () => {
    const refused = watch(
      () => Promise.reject(new Error('no such execution')),
      () => false,
    )
    await refused.done
    expect(refused.states).toEqual(['connecting', 'failed'])
    let tries = 0
    const busy = watch(() => {
      tries += 1
      return Promise.reject(new Error('busy'))
    })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(tries).toBeGreaterThan(4)
    expect(tries).toBeLessThan(12)
    busy.over.abort()
    await busy.done
  })

  test('WB-51 a connection that says nothing for long is given up and opened again', async () => {
    let opened = 0
    const { over, done } = watch((_, signal) => {
      opened += 1
      return Promise.resolve(
        new ReadableStream<Uint8Array>({
          start: (controller) =>
            signal.addEventListener('abort', () => controller.error(new Error('aborted'))),
        }),
      )
    })
    await vi.advanceTimersByTimeAsync(39_000)
    expect(opened).toBe(1)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(opened).toBe(2)
    over.abort()
    await done
  })
})
