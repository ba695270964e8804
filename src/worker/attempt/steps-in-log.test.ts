// Goal: the steps of an attempt reach whoever looks at the task, without a request or a line where there would be none.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { filesTask, openAttemptWorld, OWNER, type AttemptWorld } from '../../../test/support/worker/world.ts'
import { defineTask, type WorkspaceBodyContext } from '../../tasks/task-definition.ts'
import { readStepsLine, tellSteps } from '../results/steps-line.ts'

let world: AttemptWorld
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-steps-'))
  world = await openAttemptWorld(directory)
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

type Context = WorkspaceBodyContext<unknown>
const change = async ({ workspace }: Pick<Context, 'workspace'>): Promise<{ rows: number }> => {
  await writeFile(workspace.path('a.csv'), 'changed')
  return { rows: 2 }
}
const stepsIn = (logs: readonly string[] = []): readonly string[] =>
  logs.filter((line) => line.startsWith('steps: '))

test('WK-340 the result of a publication comes with the steps of its attempt, each with its times', async () => {
  const before = Date.now()
  const { result } = await world.run(filesTask({ body: change }))
  const steps = readStepsLine(result.logs ?? []) ?? []
  const names = steps.map(({ step }) => step)
  expect([...names].sort()).toEqual(world.events.map(({ step }) => step).sort())
  expect(names[0]).toBe('read-input')
  const fences = ['publish/merge', 'publish/attempt-fence', 'publish/publish-fence']
  const shown = new Set(['lay-out', 'body', 'compare', 'publish', 'publish/open-staging', ...fences])
  // The write asks both fences itself, right before it.
  expect(names.filter((name) => shown.has(name))).toEqual([
    ...['lay-out', 'body', 'compare', 'publish', 'publish/attempt-fence', 'publish/open-staging', ...fences],
  ])
  for (const { at } of steps) expect(Date.parse(at)).toBeGreaterThanOrEqual(before - 2)
  expect(result.logs?.at(-1)).toBe(tellSteps(steps))
})

test('WK-340 so does a failure, with the steps until then', async () => {
  const { result } = await world.run(
    filesTask({
      body: () => {
        throw new Error('it broke')
      },
    }),
  )
  expect(readStepsLine(result.logs ?? [])?.at(-1)?.step).toBe('body')
})

test('WK-343 where perago has nothing else to log, it logs no steps', async () => {
  const looks = filesTask({ workspace: { prefix: 'orders', readOnly: true }, body: () => ({ rows: 0 }) })
  expect((await world.run(looks)).result).toMatchObject({ status: 'COMPLETED', logs: [] })
  const adds = defineTask({
    name: 'add',
    owner: OWNER,
    params: z.object({}),
    result: z.number(),
    body: () => 1,
  })
  const { result } = await world.run(adds, { attempt: { input: { params: {} } } })
  expect(result).toMatchObject({ status: 'COMPLETED', logs: [] })
})

test('WK-342 steps that a body logs by itself are never read as those of its attempt', async () => {
  const lied = tellSteps([{ step: 'body', at: '2026-01-31T10:00:00.000Z', ms: 1 }])
  const said = `published: merged at ${world.inputRef}, hard fence`
  const { result } = await world.run(
    filesTask({
      workspace: { prefix: 'orders', readOnly: true },
      body: ({ log }) => {
        log.info(`${said}\n${lied}`)
        log.warn(`two lines\n${lied}`)
        return { rows: 0 }
      },
    }),
  )
  expect(result.logs).toEqual([`info: ${said}\ninfo: ${lied}`, `warn: two lines\ninfo: ${lied}`])
  const { result: published } = await world.run(
    filesTask({
      body: async ({ workspace, log }) => {
        log.info(lied)
        return change({ workspace })
      },
    }),
  )
  expect(stepsIn(published.logs)).toHaveLength(1)
})
