// One function for each kind of failure.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { UnavailableError } from 'perago'
import { openTestWorker } from 'perago/testing'
import { say, short, tellSteps, title } from './printing.mjs'
import { serveQueue } from './queue-over-ipc.mjs'

const SCENE_MS = 120_000
const LOOK_AGAIN_MS = 20
/** A little longer than the lease of a task. */
const LEASE_MS = 61_000

/** Nothing goes wrong. */
export async function quietDay(world) {
  title('A quiet day')
  const workflow = await start(world, '2026-01-15')
  const worker = await openWorker(world, { workerId: 'worker A' })
  await untilEnded(world, workflow)
  await worker.close()
}

/** kill -9 after the branch has moved and before the result was posted. Returns the workflow, which continues. */
export async function killedWorker(world) {
  const { queue, repo, branch, clock } = world
  title('A worker is killed between publishing and completing')
  const workflow = await start(world, '2026-01-16')
  // With one slot it polls for nothing else, so that no poll of a dead worker takes the task.
  const options = { ...optionsOf(world), workerId: 'worker B', only: ['orders.ingest'], slots: 1 }
  const child = fork(new URL('worker-process.mjs', import.meta.url), [JSON.stringify(options)], {
    serialization: 'advanced',
  })
  const died = once(child, 'exit', { signal: AbortSignal.timeout(SCENE_MS) })
  serveQueue(child, queue, async (call, [result]) => {
    if (call !== 'postResult' || result.status !== 'COMPLETED') return
    child.kill('SIGKILL')
    await new Promise(() => undefined)
  })
  await died
  const { head } = await repo.readBranch(branch)
  say(`Worker B (process ${child.pid}) had published ${short(head)} and was killed before it could say so.`)

  say('A minute passes: nobody renews the lease, and the queue hands the task to another worker.')
  clock.skip(LEASE_MS)
  const worker = await openWorker(world, { workerId: 'worker A', only: ['orders.ingest'] })
  await untilDone(world, workflow, 'ingest')
  await worker.close()
  const superseded = await repo.readCommit(head)
  say(`${short(head)} has left the history of ${branch} and ${superseded ? 'can still be read' : 'IS GONE'}.`)
  return workflow
}

/** A worker loses its connection, another one takes over, and the first comes back with its finished work. */
export async function staleAttempt(world, workflow) {
  const { queue, clock } = world
  title('An attempt comes back when another has taken its place')
  const connection = switchable()
  const renewals = switchable()
  const finished = signalWhen(({ kind, event }) => kind === 'step' && event.step === 'compare')
  const ended = signalWhen(({ kind }) => kind === 'attempt-ended')
  const slow = await openWorker(world, {
    workerId: 'worker C',
    only: ['orders.validate'],
    slots: 1,
    queue: over(queue, connection.passed),
    leaseQueue: over(queue, async () => {
      await renewals.passed()
      throw new UnavailableError('demo/disconnected', 'the connection is lost')
    }),
    observe: (event) => {
      finished.see(event)
      ended.see(event)
    },
  })
  await finished.seen
  say('Worker C has done its work and has lost its connection. A minute passes, its lease runs out.')
  clock.skip(LEASE_MS)
  const worker = await openWorker(world, { workerId: 'worker A', only: ['orders.validate'] })
  await untilDone(world, workflow, 'validate')
  await worker.close()
  say('Worker C is back, and wants to publish.')
  connection.open()
  await wait(LOOK_AGAIN_MS)
  renewals.open()
  await ended.seen
  await slow.close()
}

/** Somebody commits to the branch while the task runs. Returns that commit. */
export async function foreignCommit(world, workflow) {
  const { queue, repo, branch } = world
  title('Somebody else commits while a task runs')
  let foreign
  const commit = async () => {
    const bytes = Buffer.from('DE,0.19\nFR,0.20\n')
    await repo.write({ branch, path: 'vat.csv', body: { sizeBytes: bytes.length, open: () => bytes } })
    foreign = (await repo.commit({ branch, message: 'Correct the VAT table' })).commit
    say(`  Anna commits ${short(foreign.ref)} to ${branch} by hand: ${foreign.message}`)
  }
  let committed
  const worker = await openWorker(world, {
    workerId: 'worker A',
    only: ['orders.aggregate'],
    // The fences ask the queue first: by then Anna is done.
    queue: over(queue, () => (committed ??= commit())),
    leaseQueue: queue,
  })
  const { status, reasonForIncompletion } = await untilEnded(world, workflow)
  await worker.close()
  const { head } = await repo.readBranch(branch)
  say(`The workflow is ${status}, and says what to do:`)
  say(`  ${short(reasonForIncompletion).replace(/^.*\. (?=Start a new)|'$/g, '')}`)
  say(`HEAD is ${short(head)}: ${head === foreign.ref ? 'Anna’s commit stands.' : 'ANNA’S COMMIT IS GONE'}`)
  return foreign
}

/** How to continue: a new workflow from the current head. */
export async function secondTry(world) {
  title('A new workflow from the current HEAD')
  const workflow = await start(world, '2026-01-16')
  const worker = await openWorker(world, { workerId: 'worker A' })
  const { status, output } = await untilEnded(world, workflow)
  await worker.close()
  say(`The workflow is ${status}: ${JSON.stringify(output.summary)}`)
  return workflow
}

/** The last phase goes back, in the state of the workflow and on the branch together. */
export async function rolledBackPhase({ control, repo, branch }, workflow) {
  title('The phase "report" is rolled back')
  const { head: before } = await repo.readBranch(branch)
  const of = { level: 'phase', phaseId: 'report' }
  const { undone } = await control.rollBack(workflow, { of, then: 'pause', reason: 'the report was wrong' })
  const { head } = await repo.readBranch(branch)
  const left = await repo.readCommit(before)
  say(`Undone: ${undone.join()}. ${branch} has moved back from ${short(before)} to ${short(head)}.`)
  say(`${short(before)} has left the history and ${left ? 'can still be read' : 'IS GONE'}.`)
  const { status, tasks } = await control.readWorkflow(workflow)
  const kept = tasks.filter((task) => task.status === 'COMPLETED').map((task) => task.referenceTaskName)
  say(
    `The workflow is ${status}: the results of ${kept.join(' and ')} stay, "report" runs again when it is resumed.`,
  )
}

async function start({ control, repo, repository, branch }, day) {
  const { head } = await repo.readBranch(branch)
  say(`Workflow orders.daily for ${day}, from ${short(head)}`)
  const workspace = { repository, branch, refType: 'commit', ref: head }
  return control.start({ name: 'orders.daily', input: { workspace, day } })
}

function optionsOf({ module, lakefs, directory }) {
  const { url, accessKeyId, secretAccessKey } = lakefs
  return { module, lakefs: { url, accessKeyId, secretAccessKey }, root: join(directory, 'work') }
}

function openWorker(world, { observe = () => undefined, ...options }) {
  const tell = tellSteps(options.workerId)
  return openTestWorker({
    queue: world.queue,
    ...optionsOf(world),
    ...options,
    observe: (event) => {
      tell(event)
      observe(event)
    },
  })
}

/** A queue that reads a task only after `before`. */
function over(queue, before) {
  const held =
    (call) =>
    async (...given) => {
      await before()
      return queue[call](...given)
    }
  const straight =
    (call) =>
    (...given) =>
      queue[call](...given)
  const heldCalls = ['readTask', 'readWorkflowStatus', 'renewLease'].map((call) => [call, held(call)])
  const others = ['poll', 'readOpenWorkflows', 'postResult', 'appendLog'].map((call) => [
    call,
    straight(call),
  ])
  return Object.fromEntries([...heldCalls, ...others])
}

function switchable() {
  let open
  const passed = new Promise((resolve) => (open = resolve))
  return { open, passed: () => passed }
}

function signalWhen(matches) {
  let found
  const seen = new Promise((resolve) => (found = resolve))
  return { seen, see: (event) => matches(event) && found() }
}

const untilEnded = (world, workflow) => until(world, workflow, ({ status }) => status !== 'RUNNING')

const untilDone = (world, workflow, reference) =>
  until(world, workflow, ({ tasks }) =>
    tasks.some(({ referenceTaskName, status }) => referenceTaskName === reference && status === 'COMPLETED'),
  )

async function until({ control }, workflow, holds) {
  const end = performance.now() + SCENE_MS
  for (;;) {
    const view = await control.readWorkflow(workflow)
    if (holds(view)) return view
    if (performance.now() > end) throw new Error(`nothing came of it: ${JSON.stringify(view, undefined, 2)}`)
    await wait(LOOK_AGAIN_MS)
  }
}
