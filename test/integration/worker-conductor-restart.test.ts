// Goal: a Conductor that is killed and started again on its data costs no work and doubles none.
// Method: one server of its own, killed in the very moment in which a result is posted. `npm run build` comes first.
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { branchName } from '../../src/base/ids.ts'
import { filesOf, logOf } from '../support/publication-world.ts'
import { CannotStart } from '../support/servers/real-server.ts'
import { leave } from '../support/servers/servers.ts'
import {
  openRestartableConductor,
  type RestartableConductor,
} from '../support/worker-conductor/restartable-conductor.ts'
import {
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  textOf,
  until,
  type WorkerLakefs,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const OPEN_MS = 800_000
const TEST_MS = 500_000
const TASK = 'perago_it_patient'

let conductor: RestartableConductor | undefined
let missing = 'it was not opened'
let lakefs: WorkerLakefs
let world: WorkerWorld | undefined

beforeAll(async () => {
  lakefs = await openWorkerLakefs()
  try {
    conductor = await openRestartableConductor()
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    missing = error.message
  }
}, OPEN_MS)
afterAll(async () => {
  await world?.close()
  await conductor?.close()
  await lakefs.close()
}, OPEN_MS)

test(
  'WK-142 F-28 a Conductor killed and restarted with three tasks running costs none: each completes once',
  { timeout: TEST_MS },
  async (context) => {
    const server = conductor ?? leave(missing, context, process.env)
    await registerTasks(server.url)
    const here = (world = await openWorkerWorld(server.url, lakefs))
    const branches = ['spans', 'ends-meanwhile', 'told-meanwhile'] as const
    for (const branch of branches)
      await here.repo.createBranch({ branch: branchName(branch), from: here.inputRef })
    await here.open({ slots: 3 })
    const begin = async (
      branch: (typeof branches)[number],
    ): Promise<Awaited<ReturnType<typeof here.start>>> => {
      const begun = here.at(`begun-${branch}`)
      const workflow = await here.start(
        TASK,
        { begun, go: here.at(`go-${branch}`), text: branch },
        { branch },
      )
      await until(`the body of "${branch}" runs`, () => textOf(begun) !== undefined)
      return workflow
    }
    const workflows = [await begin(branches[0]), await begin(branches[1]), await begin(branches[2])]
    const stepsOf = (workflow: string | undefined): readonly string[] =>
      here.events.flatMap((event) =>
        event.kind === 'step' && event.attempt.workflowId === workflow
          ? [`${event.event.step} ${event.event.outcome}`]
          : [],
      )

    // One task has published and its result is being sent, but does not reach the server.
    let killed: Promise<void> | undefined
    here.front.interfere = async ({ update }) => {
      if (update.status !== 'COMPLETED' || killed !== undefined) return 'pass'
      killed = server.kill()
      await killed
      return 'lose'
    }
    await writeFile(here.at('go-told-meanwhile'), '')
    await until('the server is killed', () => killed !== undefined)
    await killed
    // The body of another ends while no server can say whether its attempt still counts.
    await writeFile(here.at('go-ends-meanwhile'), '')
    await until('its publication is given up', () =>
      stepsOf(workflows[1]).some((step) => /^publish (?!done)/.test(step)),
    )
    expect(await logOf(here.repo, branchName('ends-meanwhile'))).toEqual(await logOf(here.repo))

    await server.start()
    // The body of the third has not noticed, and its lease is as good as before.
    await writeFile(here.at('go-spans'), '')
    const ends = []
    for (const workflow of workflows) ends.push(await here.ended(workflow))
    expect(ends.map(({ status, tasks }) => [status, ...tasks.map((task) => task.status)])).toEqual([
      ['COMPLETED', 'COMPLETED'],
      ['COMPLETED', 'FAILED', 'COMPLETED'],
      ['COMPLETED', 'COMPLETED'],
    ])
    expect(ends[1]?.tasks[0]?.reasonForIncompletion).toContain('[fences/unknown-attempt]')
    for (const [index, branch] of branches.entries()) {
      const log = (await logOf(here.repo, branchName(branch))).map(({ ref }) => ref)
      expect(log.slice(0, 2)).toEqual([log[0], here.inputRef])
      expect(ends[index]?.output).toMatchObject({ workspace: { branch, ref: log[0] } })
      const attempt = ends[index]?.tasks.at(-1)?.retryCount
      expect((await filesOf(here.repo, branchName(branch)))['data/out.txt']).toBe(
        `${branch} by attempt ${attempt}`,
      )
    }
  },
)
