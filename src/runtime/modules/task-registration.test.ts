// Goal: no task starts with a lease that its publication does not fit into, or under a definition nobody meant.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { OWNER } from '../../../test/support/worker/world.ts'
import { diffTaskDef, type TaskDef } from '../../conductor/definition-diff.ts'
import type { TaskDefPlan } from '../../conductor/definitions.ts'
import { defineTask, defineWorkspaceTask, type TaskDefinition } from '../../tasks/task-definition.ts'
import { assertMayStart, examineRegistration, type TaskRegistration } from './task-registration.ts'

const any = { owner: OWNER, params: z.any(), result: z.any(), body: () => null }
const files = defineWorkspaceTask({ ...any, name: 'files', workspace: { prefix: 'a' } })
const plain = defineTask({ ...any, name: 'plain' })

/** What the server has, by name. */
async function examine(
  tasks: readonly TaskDefinition[],
  registered: Readonly<Record<string, Partial<TaskDef>>>,
): Promise<readonly TaskRegistration[]> {
  return examineRegistration(
    {
      planTaskDef: (declared) => {
        const changed = registered[declared.name]
        if (changed === undefined) return Promise.resolve({ action: 'create', declared })
        const there = { ...declared, ...changed }
        const changes = diffTaskDef(declared, there)
        const plan: TaskDefPlan =
          changes.length === 0
            ? { action: 'keep', declared }
            : { action: 'update', declared, registered: there, changes }
        return Promise.resolve(plan)
      },
    },
    tasks,
  )
}

describe('starting', () => {
  test('WK-25 a task as it is registered starts', async () => {
    const found = await examine([files, plain], { files: {}, plain: {} })
    expect(found.map(({ problems, drift }) => [problems, drift])).toEqual([
      [[], []],
      [[], []],
    ])
    expect(() => assertMayStart(found)).not.toThrow()
  })

  test('F-27 a task nobody registered has no timeouts of its own: reported, and not to be allowed', async () => {
    const found = await examine([files, plain], { plain: {} })
    for (const allowDrift of [true, false]) {
      expect(() => assertMayStart(found, { allowDrift })).toThrow(
        expect.objectContaining({
          code: 'runtime/not-registered',
          details: { problems: [expect.stringContaining('files: it is not registered') as string] },
        }),
      )
    }
  })

  test('WK-25 drift is refused with every field that differs, and may be allowed', async () => {
    const found = await examine([files, plain], {
      files: { retryCount: 5 },
      plain: { timeoutPolicy: 'TIME_OUT_WF' },
    })
    expect(() => assertMayStart(found)).toThrow(
      expect.objectContaining({
        code: 'runtime/task-drift',
        details: {
          drift: [
            'files: retryCount is 5 there and 3 here',
            'plain: timeoutPolicy is "TIME_OUT_WF" there and "RETRY" here',
          ],
        },
      }),
    )
    expect(() => assertMayStart(found, { allowDrift: true })).not.toThrow()
  })

  test("F-60 a budget that does not fit the server's response timeout is refused, whatever is allowed", async () => {
    const found = await examine([files], { files: { responseTimeoutSeconds: 50 } })
    expect(() => assertMayStart(found, { allowDrift: true })).toThrow(
      expect.objectContaining({
        code: 'runtime/not-registered',
        message: expect.stringContaining('less than the response timeout of 50 s') as string,
      }),
    )
  })

  test('F-60 what publishes nothing has no budget to keep', async () => {
    const reader = defineWorkspaceTask({ ...any, name: 'files', workspace: { prefix: 'a', readOnly: true } })
    for (const task of [reader, plain]) {
      const found = await examine([task], { [task.name]: { responseTimeoutSeconds: 5 } })
      expect(() => assertMayStart(found, { allowDrift: true })).not.toThrow()
    }
  })

  test('WK-310 schemas that differ on the server keep no task from starting', async () => {
    const found = await examine([files], { files: { inputSchema: { data: {} } } })
    expect(found.map(({ plan, drift }) => [plan.action, drift])).toEqual([['update', []]])
    expect(() => assertMayStart(found)).not.toThrow()
  })
})
