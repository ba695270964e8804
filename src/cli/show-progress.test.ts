// Goal: who waits for something long sees how far it is, in the form that suits where they look; what is quick shows nothing.
import { expect, test } from 'vitest'
import { showProgress, type ProgressMode, type ProgressShow } from './show-progress.ts'

function open(mode: ProgressMode, columns = 60) {
  let said = ''
  let atMs = 0
  const show: ProgressShow = showProgress(
    { say: (text) => void (said += text) },
    { mode, nowMs: () => atMs, columns: () => columns },
  )
  return {
    show,
    /** What is said by a hundred files that take this long together. */
    hundred(durationMs: number, what = 'lay-out'): string {
      said = ''
      for (let done = 1; done <= 100; done++) {
        atMs += durationMs / 100
        show.tell({ what, done, total: 100, more: `${done} of 100 files`, fields: { files: done } })
      }
      return said
    },
    cleared(): string {
      said = ''
      show.clear()
      return said
    },
  }
}

test.each<[ProgressMode, number]>([
  ['bar', 400],
  ['lines', 4_900],
  ['json', 1_900],
])('CL-170 what is quick shows nothing: %s', (mode, durationMs) => {
  const opened = open(mode)
  expect([opened.hundred(durationMs), opened.hundred(durationMs, 'upload'), opened.cleared()]).toEqual([
    '',
    '',
    '',
  ])
})

test('CL-170 on a terminal one line is drawn again, never wider than the terminal, and taken away at the end', () => {
  const opened = open('bar')
  const drawn = opened.hundred(10_000).split('\r\u001b[K').slice(1)
  expect(drawn).toHaveLength(95)
  expect(drawn.at(-1)).toBe(`[${'#'.repeat(24)}] 100 %  lay-out  100 of 100 files`)
  expect(drawn[44]).toBe(`[${'#'.repeat(12)}${'-'.repeat(12)}]  50 %  lay-out  50 of 100 files`)
  expect(opened.cleared()).toBe('\r\u001b[K')
  for (const line of open('bar', 20).hundred(10_000).split('\r\u001b[K')) expect(line.length).toBeLessThan(20)
})

test('CL-170 elsewhere it is a line now and then, and with --json a document', () => {
  const lines = open('lines').hundred(60_000)
  expect(lines.split('\n').slice(0, 2)).toEqual([
    ' 10 %  lay-out  10 of 100 files',
    ' 19 %  lay-out  19 of 100 files',
  ])
  const documents = open('json').hundred(10_000).trim().split('\n')
  expect(JSON.parse(documents[0] ?? '')).toEqual({ progress: { what: 'lay-out', files: 21 } })
})
