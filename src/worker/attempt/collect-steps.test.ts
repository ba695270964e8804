import { expect, test } from 'vitest'
import type { AttemptStepEvent } from '../events.ts'
import { collectSteps } from './collect-steps.ts'

const BEGIN = Date.parse('2026-01-31T10:00:00.000Z')

function openCollector() {
  let nowMs = 0
  const seen: string[] = []
  const clock = { now: () => new Date(BEGIN + nowMs), monotonicMs: () => nowMs }
  const { observe, told } = collectSteps({ clock, observer: ({ step }) => seen.push(step) })
  const end = (step: AttemptStepEvent['step'], atMs: number, durationMs: number): void => {
    nowMs = atMs
    observe({ step, durationMs, outcome: 'done', details: {} })
  }
  return { end, told, seen }
}

test('WK-340 steps are told by when they began, one that holds others before them, and all are passed on', () => {
  const { end, told, seen } = openCollector()
  end('read-input', 0.3, 0.3)
  end('look-at-branch', 20.5, 20)
  end('lay-out', 40, 39.6)
  end('body', 90, 50)
  end('publish/attempt-fence', 93, 3)
  end('publish/merge', 100, 7)
  // Reported a little late: seemingly it began after its first part.
  end('publish', 100.02, 10)
  expect(told().map(({ step, ms }) => `${step} ${ms}`)).toEqual([
    ...['read-input 0', 'lay-out 40', 'look-at-branch 20', 'body 50'],
    ...['publish 10', 'publish/attempt-fence 3', 'publish/merge 7'],
  ])
  expect(told()[3]).toEqual({ step: 'body', at: '2026-01-31T10:00:00.040Z', ms: 50 })
  expect(seen).toHaveLength(7)
})

test('WK-341 steps beyond the limit are passed on, and not kept', () => {
  const { end, told, seen } = openCollector()
  for (let step = 0; step < 500; step++) end('publish/upload', step, 1)
  expect([told().length, seen.length]).toEqual([100, 500])
})
