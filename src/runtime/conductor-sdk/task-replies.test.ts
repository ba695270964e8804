// Goal: the SDK's loop is told of a task when it is decided, and never anything that could decide it.
import { expect, test } from 'vitest'
import { recordOf } from '../../../test/support/worker/world.ts'
import { silentLogger } from '../../base/logger.ts'
import type { ResultStatus, TaskResult } from '../../worker/ports.ts'
import { openMemoryOutbox } from '../../worker/executors/memory-outbox.ts'
import type { Outbox } from '../../worker/results/outbox.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { TaskReplies } from './task-replies.ts'

const record = recordOf()

function resultOf(status: ResultStatus = 'COMPLETED'): TaskResult {
  const { taskId, workflowId, workerId } = record
  return { taskId, workflowId, workerId, status, output: { rows: 1 }, callbackAfterSeconds: 5 }
}

function openReplies(): { replies: TaskReplies; outbox: Outbox } {
  const replies = new TaskReplies()
  const outbox = replies.watch(openMemoryOutbox({ now: () => new Date(0), logger: silentLogger }))
  return { replies, outbox }
}

/** A worker that does only this with a task. */
function workerThat(run: () => Promise<void>, state: WorkerStatus['state'] = 'running'): Taker {
  return { take: run, status: () => ({ state }) }
}

type Taker = Parameters<TaskReplies['replyTo']>[1]

/** Whether it settles while everything else that is due is done. */
async function isSettled(reply: Promise<unknown>): Promise<boolean> {
  return Promise.race([reply.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))])
}

test('IO-61 a reply says what our result said, as a renewal and without a time to call back', async () => {
  const { replies, outbox } = openReplies()
  const reply = replies.replyTo(
    record,
    workerThat(async () => (await outbox.put(record, resultOf())).settle()),
  )
  expect(await reply).toEqual({ status: 'COMPLETED', outputData: { rows: 1 }, extendLease: true })
})

test('IO-64 while a result is not decided there is no reply; the outbox brings it', async () => {
  const { replies, outbox } = openReplies()
  const reply = replies.replyTo(
    record,
    workerThat(async () => (await outbox.put(record, resultOf())).release()),
  )
  expect(await isSettled(reply)).toBe(false)
  // A later claim of the same task is another one.
  await (await outbox.put({ ...record, pollCount: 2 }, resultOf())).settle()
  expect(await isSettled(reply)).toBe(false)
  const [item] = await outbox.pending()
  await item?.refuse('superseded')
  expect(await reply).toMatchObject({ status: 'COMPLETED', extendLease: true })
})

test('IO-61 an attempt without a result, or whose result could not be kept, gets a renewal as well', async () => {
  const { replies } = openReplies()
  expect(
    await replies.replyTo(
      record,
      workerThat(() => Promise.resolve()),
    ),
  ).toEqual({
    status: 'IN_PROGRESS',
    outputData: {},
    extendLease: true,
  })
  const full: Outbox = { ...openReplies().outbox, put: () => Promise.reject(new Error('disk full')) }
  const watched = replies.watch(full)
  const reply = replies.replyTo(
    record,
    workerThat(async () => {
      await watched.put(record, resultOf()).catch(() => undefined)
    }),
  )
  expect(await reply).toMatchObject({ status: 'COMPLETED', extendLease: true })
})

test('IO-66 what is handed back at a stop gets no reply; at other times it does', async () => {
  const { replies, outbox } = openReplies()
  const handBack = async (): Promise<void> => (await outbox.put(record, resultOf('IN_PROGRESS'))).settle()
  expect(await replies.replyTo(record, workerThat(handBack))).not.toHaveProperty('callbackAfterSeconds')
  expect(await isSettled(replies.replyTo(record, workerThat(handBack, 'stopping')))).toBe(false)
})

test('IO-65 a claim that comes twice runs once, and both get its reply', async () => {
  const { replies } = openReplies()
  let runs = 0
  const worker = workerThat(() => {
    runs++
    return Promise.resolve()
  })
  const [one, two] = await Promise.all([replies.replyTo(record, worker), replies.replyTo(record, worker)])
  expect([one === two, runs]).toEqual([true, 1])
})
