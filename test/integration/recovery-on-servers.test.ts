// Goal: the runbook holds where it will be needed: on a lakeFS as it is deployed, and with a Conductor that has its own clock.
// Method: commands of the pages with the hard fence installed; then worker processes that are killed when they report, and the
// configuration of the command as its users have it. `npm run build` comes first.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CommitRef } from '../../src/base/ids.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { readNewest } from '../../src/publication/claims.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import { examine, recover, type RecoverRequest } from '../../src/recovery/recover.ts'
import type { Situation } from '../../src/recovery/situation.ts'
import { verify } from '../../src/recovery/verify.ts'
import { withRecovery } from '../../src/runtime/open-recovery.ts'
import { spawnWorker } from '../../src/runtime/processes/worker-processes.ts'
import { openTestQueue } from '../../src/testing/open-test-queue.ts'
import { logOf } from '../support/publication-world.ts'
import { openRecoveryLakefs, RecoveryTestWorld, type RecoveryLakefs } from '../support/recovery-world.ts'
import { expectRunbook, RUNBOOK_COMMANDS } from '../support/runbook.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'
import {
  MAIN,
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000
const conductor = useRealServer('conductor')

let server: SuiteLakefs
let lakefs: RecoveryLakefs
beforeAll(async () => {
  server = await openSuiteLakefs()
  lakefs = await openRecoveryLakefs(server)
}, TEST_MS)
afterAll(() => lakefs.close())

/** Those that move a branch, send a result or complete a task. */
const DRILLED: readonly Situation[] = [
  'abandoned-publication',
  'branch-moved',
  'claim-left',
  'output-off-branch',
  'published-unreported',
  'refused-work-kept',
  'result-waiting',
]

describe('on lakeFS', { timeout: TEST_MS }, () => {
  test.each(RUNBOOK_COMMANDS.filter(({ situation }) => DRILLED.includes(situation)))(
    'RE-30 $situation: perago $command',
    async (entry) => {
      const it = await RecoveryTestWorld.open(lakefs, openTestQueue(), { [FENCE_PATH]: FENCE_FILE })
      await expectRunbook(it, entry)
    },
  )
})

describe('on Conductor', { timeout: TEST_MS }, () => {
  async function openWorld(url: string): Promise<WorkerWorld> {
    await registerTasks(url)
    const client = await openWorkerLakefs({ ...server, close: () => Promise.resolve() })
    onTestFinished(() => client.close())
    const world = await openWorkerWorld(url, client)
    onTestFinished(() => world.close())
    return world
  }

  /** A worker that has published, and is killed when it reports so; Conductor does not get the report. */
  async function dieBeforeCompleting(
    world: WorkerWorld,
  ): Promise<{ workflowId: WorkflowId; head: CommitRef }> {
    const doomed = spawnWorker(world.orderOf({ root: world.root }))
    onTestFinished(async () => {
      doomed.kill()
      await doomed.ended
    })
    world.front.interfere = ({ update }) => {
      if (update.status !== 'COMPLETED') return 'pass'
      doomed.kill()
      return 'lose'
    }
    const workflowId = await world.start('perago_it_patient')
    await doomed.ended
    world.front.interfere = () => 'pass'
    const [published] = await logOf(world.repo)
    if (published === undefined || published.ref === world.inputRef) throw new Error('it had not published')
    return { workflowId, head: published.ref }
  }

  /** As the command does it, over the configured servers. */
  const over = (world: WorkerWorld, root: string, request: RecoverRequest) =>
    withRecovery(world.configuration, { root }, async (opened) => {
      const [before] = await examine(opened, request.target)
      const [after] = await recover(opened, request)
      return { situation: before?.situation, done: after?.done.map(({ step }) => step) }
    })

  test('RE-30 a result in an outbox is sent, and what the workflow published is proved', async (context) => {
    const world = await openWorld(conductor(context).url)
    const { workflowId, head } = await dieBeforeCompleting(world)
    expect(await over(world, world.root, { target: workflowId })).toEqual({
      ...{ situation: 'result-waiting', done: ['send-result'] },
    })
    const { status, output, tasks } = await world.ended(workflowId)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    expect(output).toMatchObject({ workspace: { ref: head } })
    const place = { repository: world.repository, branch: MAIN }
    const proved = await withRecovery(world.configuration, { root: world.root }, (opened) =>
      verify(opened, place),
    )
    expect(proved).toMatchObject({ holds: true, stopped: 'beginning', unknownWorkflows: [] })
    const since = await withRecovery(world.configuration, { root: world.root }, (opened) =>
      verify(opened, { ...place, since: world.inputRef }),
    )
    expect(since).toMatchObject({ holds: true, stopped: 'since', commits: 1, oldest: head })
  })

  test('RE-30 without the outbox the task is adopted, by its branch; the attempt of the dead worker is over', async (context) => {
    const world = await openWorld(conductor(context).url)
    const { workflowId, head } = await dieBeforeCompleting(world)
    const target = `${world.repository}/${MAIN}`
    const request = { target, action: 'adopt', reason: 'checked by hand' } as const
    expect(await over(world, world.at('none'), request)).toEqual({
      ...{ situation: 'published-unreported', done: ['complete-task'] },
    })
    const { status, output, tasks } = await world.ended(workflowId)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    // From the ledger of its commit.
    expect(output).toMatchObject({ workspace: { ref: head }, result: { filler: '' } })
    expect((await logOf(world.repo))[0]?.ref).toBe(head)
  })

  test('RE-30 an abandoned publication is quarantined, and the workflow starts again from the present head', async (context) => {
    const world = await openWorld(conductor(context).url)
    const { workflowId, head } = await dieBeforeCompleting(world)
    await world.control.terminate(workflowId)
    const quarantine = { target: workflowId, action: 'quarantine', reason: 'to be looked at' } as const
    expect(await over(world, world.at('none'), quarantine)).toEqual({
      situation: 'abandoned-publication',
      done: ['keep-head', 'branch-off-head', 'move-branch'],
    })
    expect((await logOf(world.repo))[0]?.ref).toBe(world.inputRef)
    expect((await readNewest(world.repo, evidenceTag(head) as typeof MAIN, {}))?.ref).toBe(head)

    const restarted = await withRecovery(world.configuration, { root: world.root }, (opened) =>
      recover(opened, { target: workflowId, action: 'restart' }),
    )
    const id = restarted[0]?.done[0]?.workflowId as WorkflowId
    onTestFinished(() => world.control.remove(id))
    expect(await world.control.readWorkflow(id)).toMatchObject({
      status: 'RUNNING',
      tasks: [{ input: { workspace: { ref: world.inputRef } } }],
    })
    await world.control.terminate(id)
  })
})
