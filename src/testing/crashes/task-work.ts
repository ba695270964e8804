/** The attempts of a user's task, carried out by the code of a worker over real directories. */

import type { Json } from '../../base/json.ts'
import { defined } from '../../base/defined.ts'
import { silentLogger } from '../../base/logger.ts'
import { plainRedactor } from '../../base/redaction.ts'
import type { TaskBody, TaskDefinition } from '../../tasks/task-definition.ts'
import { Attempts } from '../../worker/attempt/attempts.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import type { Lease, LeaseKeeper } from '../../worker/leases/lease.ts'
import { Outages } from '../../worker/outages/outage.ts'
import type { WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import { CRASH_STEP_MAX_MS, CRASH_STEP_QUIET_TURNS } from '../limits.ts'
import type { SimulatedAttempt } from '../worlds/queue.ts'
import { settle } from '../worlds/scheduler.ts'
import { TARGET, type AttemptSite, type Work } from '../worlds/work.ts'

export interface TaskWorkOptions {
  readonly task: TaskDefinition
  readonly modulePath: string | undefined
  readonly params: Json
  readonly files: Readonly<Record<string, string>>
  readonly repository: string
  readonly root: WorkspaceRoot
}

export function workOfTask(options: TaskWorkOptions): Work {
  const { task, params, files, repository } = options
  return {
    files,
    run: (_, site) => runAttempt(options, site),
    describe: ({ inputRef }: SimulatedAttempt) => ({
      taskType: task.name,
      input: { workspace: { repository, branch: TARGET, refType: 'commit', ref: inputRef }, params },
    }),
    // What was published is compared with the undisturbed run.
    holds: () => ({ work: true, result: true }),
    settle: settleWithDisk,
  }
}

/** The error of the attempt, or what its publication did. */
async function runAttempt({ task, modulePath, root }: TaskWorkOptions, site: AttemptSite): Promise<unknown> {
  const { client, record, clock, repo, queue, outbox, fences, leases = UNENDING } = site
  let end: unknown
  const observe = (event: WorkerEvent): void => {
    if (event.kind === 'step') tellSteps(event.event, site)
    if (event.kind === 'attempt-ended') end = event.error ?? event.summary.action ?? event.summary.status
  }
  const body = pausing(task.body, site)
  const attempts = new Attempts({
    ...{ queue, leases, outbox, root, clock, observe, ...defined({ fences }) },
    ...{ workerId: client, logger: silentLogger, redactor: plainRedactor, random: { next: () => 0.5 } },
    tasks: [],
    openRepo: () => repo,
    outages: new Outages([]),
    branches: { look: () => undefined },
    slotsMax: 1,
    closed: new AbortController().signal,
    onKept: () => undefined,
  })
  attempts.begin(
    record,
    { task: { ...task, body }, ...defined({ modulePath }) },
    { releaseSlots: () => undefined },
  )
  await attempts.untilNone()
  return end
}

function tellSteps(
  { step, outcome, details }: Extract<WorkerEvent, { readonly kind: 'step' }>['event'],
  site: AttemptSite,
): void {
  if (step === 'pre-guardrails' && outcome === 'done') site.onBody()
  if (step === 'adopt' && details['outputRef'] !== undefined) site.onAdoption()
}

/** A body in this thread can be cut off right before and right after it; another one at the requests around it. */
function pausing(body: TaskBody, { pause }: AttemptSite): TaskBody {
  if (body.kind === 'command' || body.runIn !== 'inline') return body
  return {
    ...body,
    invoke: async (params, context) => {
      await pause('begin the body')
      const result = await body.invoke(params, context)
      await pause('end the body')
      return result
    },
  }
}

/** Of worlds in which no lease is renewed. */
const UNENDING: LeaseKeeper = {
  hold: (): Lease => ({
    lost: new AbortController().signal,
    renewedAtMs: 0,
    release: () => Promise.resolve(),
  }),
  close: () => Promise.resolve(),
}

/**
 * Directories, and programs, take real time. A step is over when everybody waits or has ended, and no file operation of this
 * process is under way: several may belong to one attempt.
 */
async function settleWithDisk(isAwaited: () => boolean): Promise<void> {
  const startedMs = performance.now()
  let spins = 0
  for (let quiet = 0; quiet < CRASH_STEP_QUIET_TURNS; quiet++) {
    await settle()
    if (!isAwaited() && !isDiskBusy()) continue
    quiet = -1
    if (++spins > SPINS_MAX) await new Promise((resolve) => setTimeout(resolve, 1))
    if (performance.now() - startedMs > CRASH_STEP_MAX_MS)
      throw new Error(`the task neither asked for anything nor ended for ${CRASH_STEP_MAX_MS / 1_000} s`)
  }
}

const SPINS_MAX = 200

function isDiskBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))
}
