// Goal: what a body logs is at the task queue while it runs, in few texts, and nothing ever waits for that.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { TASK_LOG_LINES_MAX, TASK_LOG_SEND_INTERVAL_MAX_MS, TASK_LOG_SEND_INTERVAL_MS } from '../limits.ts'
import { sendTaskLog, type SendLines, type TaskLogSender } from './send-task-log.ts'
import { openTaskLog, type TaskLog } from './task-log.ts'

let clock: ManualClock
let log: TaskLog
let sent: string[]
let sender: TaskLogSender
let answer: SendLines

beforeEach(() => {
  clock = new ManualClock()
  log = openTaskLog(silentLogger, plainRedactor)
  sent = []
  answer = () => Promise.resolve()
  const send: SendLines = (text, options) => {
    sent.push(text)
    return answer(text, options)
  }
  sender = sendTaskLog({ log, send, clock, logger: silentLogger })
})
afterEach(() => sender.end('succeeded'))

test('WK-325 lines go in one text for each interval, and none where there are none', async () => {
  log.add('one')
  log.add('two')
  await clock.advance(TASK_LOG_SEND_INTERVAL_MS - 1)
  expect(sent).toEqual([])
  await clock.advance(1)
  expect(sent).toEqual(['one\ntwo'])
  await clock.advance(5 * TASK_LOG_SEND_INTERVAL_MS)
  expect(sent).toHaveLength(1)
  log.add('three')
  sender.end('succeeded')
  expect(log.lines()).toEqual(['three'])
})

test('WK-325 a body that says much is heard in bounded texts, and less often the longer it runs', async () => {
  const dayMs = 86_400_000
  for (let atMs = 0; atMs < dayMs; atMs += 10_000) {
    for (let line = 0; line < (atMs === 0 ? 2 * TASK_LOG_LINES_MAX : 1); line++) log.add('x')
    await clock.advance(10_000)
  }
  expect(sent[0]?.split('\n')).toHaveLength(TASK_LOG_LINES_MAX + 1)
  expect(sent[0]).toMatch(new RegExp(`^\\(${TASK_LOG_LINES_MAX} earlier lines left out\\)\n`))
  expect(sent.length).toBeLessThan(1.2 * (dayMs / TASK_LOG_SEND_INTERVAL_MAX_MS))
})

test('WK-326 of progress only the last is told, and again only after it has changed', async () => {
  sender.note([1, 10])
  sender.note([3, 10, 'files'])
  await clock.advance(2 * TASK_LOG_SEND_INTERVAL_MS)
  expect(sent).toEqual(['progress: 3 of 10 files (30 %)'])
  sender.note([4, 10, 'files'])
  sender.end('failed')
  expect(log.lines()).toEqual(['progress: 4 of 10 files (40 %)'])
})

test('WK-327 what could not be sent goes with the next text, and what is under way at the end with the result', async () => {
  answer = () => Promise.reject(new Error('away'))
  log.add('one')
  await clock.advance(TASK_LOG_SEND_INTERVAL_MS)
  let aborted = false
  answer = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        aborted = true
        reject(new Error('aborted'))
      })
    })
  log.add('two')
  await clock.advance(TASK_LOG_SEND_INTERVAL_MS)
  expect(sent).toEqual(['one', 'one\ntwo'])
  log.add('three')
  sender.end('succeeded')
  expect([aborted, log.lines()]).toEqual([true, ['one', 'two', 'three']])
})
