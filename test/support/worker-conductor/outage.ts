// Chains of tasks, with a lakeFS that is killed in the middle of them and comes back.
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { branchName } from '../../../src/base/ids.ts'
import type { WorkflowId } from '../../../src/fences/attempt-snapshot.ts'
import type { OpenedWorker } from '../../../src/runtime/worker.ts'
import { filesOf, logOf, stagingBranchesOf } from '../publication-world.ts'
import type { RestartableLakefs } from '../servers/restartable-lakefs.ts'
import { stepOf, until, type WorkerWorld } from './world.ts'

const CHAIN = 'perago_it_chain'
const STEPS = ['first', 'second', 'third'] as const
/** So many bodies run when lakeFS is killed, and end while it is away. */
const HELD = 3
const LOOK_MS = 100

export interface OutageOptions {
  readonly workflows: number
  readonly outageMs: number
  /** After the outage. */
  readonly endMs: number
  /** Part of what the worker says while it is not ready. */
  readonly says?: string
}

/** Asserts that all of them complete, in one attempt each, exactly, and that nothing is left. */
export async function surviveOutage(
  world: WorkerWorld,
  server: RestartableLakefs,
  { workflows: count, outageMs, endMs, says = 'lakeFS is away' }: OutageOptions,
): Promise<void> {
  await world.control.registerWorkflow({
    name: CHAIN,
    tasks: STEPS.map((step, index) => {
      const after = STEPS[index - 1]
      return stepOf('perago_it_steady', step, { params: step, ...(after === undefined ? {} : { after }) })
    }),
  })
  const branches = Array.from({ length: count }, (_, index) => branchName(`line-${index}`))
  for (const branch of branches) await world.repo.createBranch({ branch, from: world.inputRef })
  const opened = await world.open({ slots: 6, health: { port: 0 } })
  const go = world.at('go')
  const begunOf = (index: number): string => world.at(`begun-${index}`)
  const workflows: WorkflowId[] = []
  for (const [index, branch] of branches.entries()) {
    const held = index < HELD ? { begun: begunOf(index), go } : {}
    const params = STEPS.map((step) => [
      step,
      { file: `${step}.txt`, text: step, ...(step === 'second' && held) },
    ])
    workflows.push(await world.start(CHAIN, {}, { branch, input: Object.fromEntries(params) as never }))
  }
  const statusesOf = async (): Promise<readonly string[]> => {
    const views = await Promise.all(workflows.map((workflow) => world.control.readWorkflow(workflow)))
    return views.map((view) => view?.status ?? 'gone')
  }
  const published = (): number => world.summaries().filter(({ status }) => status === 'COMPLETED').length
  await until('some tasks have published', () => published() >= HELD + 2)

  await server.kill()
  const killedAtMs = performance.now()
  await until('the worker is not ready', async () => (await probe(opened, 'readyz')).includes(says))
  expect(await probe(opened, 'healthz')).toContain('"ok":true')
  writeFileSync(go, '')
  await wait(Math.max(0, outageMs - (performance.now() - killedAtMs)))
  expect(await statusesOf()).not.toContain('FAILED')
  await server.start()
  const backAtMs = performance.now()

  await expect
    .poll(async () => (await statusesOf()).every((status) => status !== 'RUNNING'), {
      timeout: endMs,
      interval: LOOK_MS,
    })
    .toBe(true)
  const endedAtMs = performance.now()
  for (const [index, workflow] of workflows.entries()) {
    const view = await world.control.readWorkflow(workflow)
    expect(view?.status).toBe('COMPLETED')
    expect(view?.tasks.map(({ status, retryCount }) => [status, retryCount])).toEqual(
      STEPS.map(() => ['COMPLETED', 0]),
    )
    const branch = branches[index]
    const log = (await logOf(world.repo, branch)).map(({ ref }) => ref)
    expect(log.indexOf(world.inputRef)).toBe(STEPS.length)
    expect(view?.output).toMatchObject({ workspace: { ref: log[0] } })
    expect(await filesOf(world.repo, branch)).toEqual({
      'data/in.txt': 'in',
      ...Object.fromEntries(STEPS.map((step) => [`data/${step}.txt`, `${step} by attempt 0`])),
    })
  }
  await expect.poll(() => stagingBranchesOf(world.repo), { timeout: 40_000, interval: LOOK_MS }).toEqual([])
  expect(await probe(opened, 'readyz')).toContain('"ok":true')
  const handedBack = world.summaries().filter(({ status }) => status === 'IN_PROGRESS').length
  console.log(
    `lakeFS (${server.isReal ? 'real' : 'embedded'}) away for ${Math.round(outageMs / 1_000)} s: ${count} workflows completed ` +
      `${Math.round(endedAtMs - backAtMs)} ms after its return, ${handedBack} tasks were handed back`,
  )
}

async function probe({ healthUrl = '' }: OpenedWorker, path: string): Promise<string> {
  return (await fetch(`${healthUrl}/${path}`)).text()
}
