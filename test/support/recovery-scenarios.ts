// Each situation of the table as it comes about: the real publication, and the trouble of its page.
import { systemClock } from '../../src/base/clock.ts'
import { branchName } from '../../src/base/ids.ts'
import { changeFence, readFenceState } from '../../src/publication/fence-installation.ts'
import type { Situation } from '../../src/recovery/situation.ts'
import { MAIN } from '../conformance/versioned-repo-cases/world.ts'
import { leaveClaim } from './detached-claim.ts'
import { failureOf } from './publication-world.ts'
import type { RecoveryTestWorld } from './recovery-world.ts'

/** Gives what `perago recover` is asked about. */
type Scenario = (world: RecoveryTestWorld) => Promise<string>

/** A workflow whose attempt has published, and has not said so. */
async function published(world: RecoveryTestWorld) {
  const workflowId = await world.start()
  const task = await world.claim()
  const ref = await world.publish(task)
  return { workflowId, task, ref }
}

/** A workflow whose retry has replaced a publication on a protected branch, and has not said so. The protection stays. */
export async function publishedForward(world: RecoveryTestWorld): Promise<string> {
  const fence = await readFenceState(world.repo, MAIN, {})
  const { ref } = await changeFence(world.repo, fence, { act: 'install', clock: systemClock })
  const workflowId = await world.start(ref)
  const first = await world.claim()
  await world.publish(first)
  await world.queue.postResult(world.resultOf(first, 'FAILED'))
  await world.protect([MAIN])
  await world.publish(await world.claim())
  return workflowId
}

/** A workflow whose task failed because the branch was elsewhere. */
async function refused(world: RecoveryTestWorld, spoil: () => Promise<unknown>): Promise<string> {
  const workflowId = await world.start()
  const task = await world.claim()
  await spoil()
  await failureOf(world.publish(task))
  await world.fail(task)
  return workflowId
}

export const SCENARIOS: Readonly<Record<Situation, Scenario>> = {
  'branch-missing': async (world) => {
    const dev = branchName('dev')
    await world.repo.createBranch({ branch: dev, from: world.input })
    const workspace = { repository: world.repository, branch: dev, refType: 'commit', ref: world.input }
    const workflowId = await world.queue.start({ name: 'daily', input: { workspace } })
    await world.repo.deleteBranch(dev)
    return workflowId
  },
  'claim-left': async (world) => {
    const { ref: to } = await published(world)
    await world.reset(world.input)
    await leaveClaim(world, { head: await world.commit({ 'b.txt': 'theirs' }), to })
    return world.place
  },
  'not-published-here': (world) => Promise.resolve(world.place),
  'task-unknown': async (world) => {
    const { workflowId } = await published(world)
    await world.queue.terminate(workflowId)
    await world.queue.remove(workflowId)
    return world.place
  },
  'two-writers': async (world) => {
    const workflowId = await world.start()
    await world.start()
    return workflowId
  },
  'taken-over': async (world) => {
    const workflowId = await world.start()
    await world.fail(await world.claim())
    await world.start()
    return workflowId
  },
  'result-waiting': async (world) => {
    const { workflowId, task, ref } = await published(world)
    world.hold(task, ref)
    return workflowId
  },
  running: async (world) => {
    const workflowId = await world.start()
    await world.claim()
    return workflowId
  },
  'published-unreported': async (world) => (await published(world)).workflowId,
  'forward-unreported': async (world) => {
    const workflowId = await publishedForward(world)
    // As an operator does before anything may leave the branch.
    await world.protect([])
    return workflowId
  },
  'foreign-above-input': (world) =>
    refused(world, async () => {
      await world.commit({ 'b.txt': 'theirs' })
      await world.commit({ 'c.txt': 'theirs' })
    }).then(async (workflowId) => {
      // One of the two was taken back by its author.
      await world.reset((await world.history())[1]!.ref)
      return workflowId
    }),
  'branch-moved': (world) =>
    refused(world, async () => {
      await world.commit({ 'b.txt': 'theirs' })
      await world.commit({ 'c.txt': 'theirs' })
    }),
  done: async (world) => {
    const { workflowId, task, ref } = await published(world)
    await world.complete(task, ref)
    return workflowId
  },
  'moved-on': async (world) => {
    const { workflowId, task, ref } = await published(world)
    await world.complete(task, ref)
    await world.commit({ 'b.txt': 'theirs' })
    return workflowId
  },
  'output-off-branch': async (world) => {
    const { workflowId, task, ref } = await published(world)
    await world.complete(task, ref)
    await world.reset(world.input)
    return workflowId
  },
  'failed-unpublished': async (world) => {
    const workflowId = await world.start()
    await world.fail(await world.claim())
    return workflowId
  },
  'refused-work-kept': async (world) => {
    const workflowId = await refused(world, async () => {
      await world.commit({ 'b.txt': 'theirs' })
      await world.commit({ 'c.txt': 'theirs' })
    })
    // Both were taken back by their author.
    await world.reset(world.input)
    return workflowId
  },
  'abandoned-publication': async (world) => {
    const { workflowId, task } = await published(world)
    await world.fail(task)
    return workflowId
  },
}
