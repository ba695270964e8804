// Goal: whatever anybody gets to know of an execution has been stored before, and each step is decided from the one stored before.
// Method: a store that answers late, in an order of its own, notes when each batch began and when it was done; workers take, end and
// fail the tasks of random graphs at the same time. What a worker, a reader or an observer is told is compared with the notes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../base/random.ts'
import type { Store } from '../../core/ports.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import { anyGraph } from '../../../test/support/engine-graphs.ts'
import { openSeenEngine } from '../../../test/support/engine/seen-engine.ts'
import type { StageMove } from '../protocol/stages.ts'
import { decodeHead, decodeRow, type Head } from './stored-execution.ts'

/** What has been stored, and is being stored. */
class Spy {
  readonly problems: string[] = []
  /** By key: the latest head, and its revision. */
  readonly heads = new Map<string, { readonly head: Head; readonly revision: number }>()
  /** By task id. */
  readonly attempts = new Map<string, Partial<TaskRecord>>()
  readonly #underWay = new Set<string>()
  readonly #random = seededRandom(5)
  writes = 0

  wrap(store: Store): Store {
    return {
      ...store,
      // Reading past this wrapper is reading what is stored.
      commit: async (batch, options) => {
        const heads = batch.operations.filter(({ key }) => key.endsWith(':head'))
        for (const { key } of heads) {
          if (this.#underWay.has(key)) this.problems.push(`two steps of ${key} at the same time`)
          this.#underWay.add(key)
          const known = this.heads.get(key)
          const condition = batch.conditions?.find((each) => each.key === key)
          const isNext = condition?.is === 'at' ? condition.revision === known?.revision : known === undefined
          if (!isNext) this.problems.push(`a step of ${key} does not follow from the stored one`)
        }
        for (let turns = this.#random.next() * 4; turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve))
        const outcome = await store.commit(batch, options)
        for (const { key } of heads) this.#underWay.delete(key)
        if (!outcome.committed) return outcome
        for (const operation of batch.operations) {
          if (operation.do !== 'put') continue
          if (operation.key.endsWith(':head')) {
            this.writes += 1
            this.heads.set(operation.key, { head: decodeHead(operation.value), revision: outcome.revision })
          }
          const [, taskId] = /:row:([^:]+)$/.exec(operation.key) ?? []
          if (taskId !== undefined) this.attempts.set(taskId, decodeRow(operation.value).row.record)
        }
        return outcome
      },
    }
  }

  storedMoves(workflowId: string): readonly StageMove[] {
    for (const [key, { head }] of this.heads)
      if (key.includes(workflowId)) return head.fields['moves'] as unknown as readonly StageMove[]
    return []
  }
}

test('X-102 each transition is stored before anybody is told and before the next step', async () => {
  const outcomes = fc.array(fc.constantFrom('COMPLETED', 'COMPLETED', 'FAILED', 'IN_PROGRESS'), {
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyGraph(6), { minLength: 1, maxLength: 3 }),
      outcomes,
      async (graphs, drawn) => {
        const spy = new Spy()
        const told = { steps: 0 }
        const seen = await openSeenEngine({
          wrap: (store) => spy.wrap(store),
          observers: [
            (event) => {
              if (event.kind !== 'step') return
              told.steps += 1
              expect(spy.storedMoves(event.after.workflowId)).toEqual(event.after.moves)
            },
          ],
        })
        const ids = await Promise.all(graphs.map((graph) => seen.engine.control.startGraph(graph, {})))
        for (const id of ids) {
          const execution = await seen.engine.control.readExecution(id)
          expect(spy.storedMoves(id)).toEqual(execution?.moves)
        }
        let taken = 0
        for (let turns = 0; turns < 60; turns += 1) {
          const tasks = (await Promise.all([seen.poll(2), seen.poll(3)])).flat()
          if (tasks.length === 0) break
          for (const { taskId } of tasks)
            expect(spy.attempts.get(taskId)).toMatchObject({ status: 'IN_PROGRESS', workerId: 'w' })
          await Promise.all(
            tasks.map(async (task) => {
              const status = (turns > 20 ? 'COMPLETED' : drawn[taken++ % drawn.length]) ?? 'COMPLETED'
              await seen.post(task, status)
              const stored = status === 'IN_PROGRESS' ? 'SCHEDULED' : status
              expect([stored, 'CANCELED']).toContain(spy.attempts.get(task.taskId)?.status)
            }),
          )
          seen.clock.move(1_000)
        }
        expect(spy.problems).toEqual([])
        for (const id of ids) {
          const execution = await seen.engine.control.readExecution(id)
          expect(spy.storedMoves(id)).toEqual(execution?.moves)
          expect(['COMMIT', 'FAILED']).toContain(execution?.stage)
        }
        // One write per step, and none beside them.
        expect(spy.writes).toBe(told.steps)
        await seen.engine.close()
      },
    ),
    { numRuns: 25 },
  )
}, 60_000)
