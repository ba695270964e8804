// Goal: the harness for users' tasks fails as soon as the worker under it has lost a fence.
import { writeFile } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { defineWorkspaceTask } from '../../src/tasks/task-definition.ts'

const task = defineWorkspaceTask({
  ...{ name: 'greet', owner: 'data@example.org', params: z.object({}), result: z.object({}) },
  body: async ({ workspace }) => {
    await writeFile(workspace.path('hello.txt'), 'hello')
    return {}
  },
})

const FENCES = {
  'attempt fence': ['../../src/fences/attempt-fence.ts', { assertCurrentAttemptSnapshot: () => undefined }],
  'publish fence': ['../../src/fences/publish-fence.ts', { decidePublication: () => ({ action: 'merge' }) }],
} as const

afterEach(() => {
  for (const [path] of Object.values(FENCES)) vi.doUnmock(path)
  vi.resetModules()
})

test.each(['attempt fence', 'publish fence'] as const)(
  'PU-208 without its %s a case of a worker fails',
  { timeout: 120_000 },
  async (name) => {
    const [path, without] = FENCES[name]
    vi.resetModules()
    vi.doMock(path, async (original) => ({ ...(await original<object>()), ...without }))
    const { tryEveryCrash } = await import('../../src/testing/crashes/try-every-crash.ts')
    await expect(tryEveryCrash({ task, params: {} })).rejects.toThrow(/^case \d+ does not hold/)
  },
)
