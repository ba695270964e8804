// One attempt as a worker runs it, from what it was handed to the result that the queue has: the real code of checkout source,
// fences, publication, failures and delivery. The directory alone is replaced by a list, so that thousands run in a second.
import type { Json } from '../../src/base/json.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { plainRedactor } from '../../src/base/redaction.ts'
import type { PlannedChanges } from '../../src/publication/planned-changes.ts'
import type { PublicationResult } from '../../src/publication/publication.ts'
import { adopt, type Adoption } from '../../src/publication/adopt.ts'
import type { AttemptAuthority } from '../../src/publication/authority.ts'
import { publish } from '../../src/publication/publish.ts'
import type { SessionOptions } from '../../src/publication/session.ts'
import type { SimulatedAttempt } from '../../src/testing/worlds/queue.ts'
import { settle } from '../../src/testing/worlds/scheduler.ts'
import { runOf, TARGET, taskOf, type AttemptSite, type Work } from '../../src/testing/worlds/work.ts'
import { openObjectSource } from '../../src/worker/attempt/object-source.ts'
import { readFreshAttempt } from '../../src/worker/attempt/read-fresh-attempt.ts'
import type { AttemptOutcome } from '../../src/worker/attempt/run-attempt.ts'
import type { Lease } from '../../src/worker/leases/lease.ts'
import type { TaskResult } from '../../src/worker/ports.ts'
import { mapFailure } from '../../src/worker/results/failure-map.ts'
import { finishAttempt } from '../../src/worker/results/finish-attempt.ts'
import { NO_CHANGES, uploadOf } from '../support/publication-world.ts'
import type { Scenario } from './scenarios.ts'

interface Site extends AttemptSite {
  readonly scenario: Scenario
  readonly lease: Lease | undefined
}

export function workOf(scenario: Scenario): Work {
  return {
    files: { 'data/start': 'start' },
    run: (attempt, site) => runSimulatedAttempt(attempt, site, scenario),
    holds: ({ maker, makerName, completed, read }) => {
      const path = maker && pathOf(scenario, maker)
      const { by } = completed.result as { readonly by: string }
      return { work: path === undefined || read(path) === makerName, result: by === makerName }
    },
    settle,
  }
}

/** The publication, or why there is none. */
async function runSimulatedAttempt(
  attempt: SimulatedAttempt,
  given: AttemptSite,
  scenario: Scenario,
): Promise<unknown> {
  const policy = { whilePaused: 'stop' } as const
  const lease = given.leases?.hold({ attempt: attempt.snapshot, responseTimeoutSeconds: 60, policy })
  const site = { ...given, scenario, lease }
  let currentAtMs: number | undefined
  const outcome = await runBodyAndPublish(attempt, site, (atMs) => {
    currentAtMs = atMs
  })
  const { queue, outbox, clock } = site
  await finishAttempt(
    { attempt: attempt.snapshot, outcome: { ...outcome, currentAtMs }, lease },
    { queue, outbox, clock, logger: silentLogger },
  )
  return outcome.error ?? outcome.publication
}

async function runBodyAndPublish(
  attempt: SimulatedAttempt,
  site: Site,
  onCurrent: (askedAtMs: number) => void,
): Promise<AttemptOutcome> {
  const later: (() => Promise<void>)[] = []
  const cleanUp = async (): Promise<void> => {
    for (const work of later) await work()
  }
  const nothing = { evidence: undefined, cleanUp }
  const authority = authorityOf(attempt, site, onCurrent)
  try {
    const adoption = await adoptEarlier(attempt, site, authority)
    const publication = adoption ?? (await runAndPublish(attempt, site, { authority, later }))
    const workspace = { repository: site.repo.repository, branch: TARGET, refType: 'commit' }
    const result = adoption === undefined ? resultOfBody(attempt) : adoption.result
    const output = { workspace: { ...workspace, ref: publication.outputRef }, result }
    return {
      ...nothing,
      publication,
      error: undefined,
      result: resultOf(attempt, { status: 'COMPLETED', output }),
    }
  } catch (thrown) {
    const error = site.lease?.lost.aborted === true ? (site.lease.lost.reason as unknown) : thrown
    const { status, reason } = mapFailure(error, { redactor: plainRedactor })
    const result = resultOf(attempt, { status, output: {}, reasonForIncompletion: reason })
    return { ...nothing, publication: undefined, error, result }
  }
}

function resultOf(
  { snapshot }: SimulatedAttempt,
  of: Pick<TaskResult, 'status' | 'output' | 'reasonForIncompletion'>,
): TaskResult {
  const { taskId, workflowId, workerId } = snapshot
  return { taskId, workflowId, workerId, ...of }
}

/** Who ran the body, so that one sees whose result was reported. */
function resultOfBody({ client }: SimulatedAttempt): Json {
  return { by: client }
}

async function adoptEarlier(
  { inputRef }: SimulatedAttempt,
  site: Site,
  authority: AttemptAuthority,
): Promise<Adoption | undefined> {
  if (site.scenario.onRetry !== 'adopt') return undefined
  const adoption = await adopt({ ...sessionOf(site), authority, target: { branch: TARGET, inputRef } })
  if (adoption !== undefined) site.onAdoption()
  return adoption
}

async function runAndPublish(
  attempt: SimulatedAttempt,
  site: Site,
  of: { readonly authority: AttemptAuthority; readonly later: (() => Promise<void>)[] },
): Promise<PublicationResult> {
  await checkOut(attempt, site)
  site.onBody()
  await site.pause('run the body')
  site.lease?.lost.throwIfAborted()
  return publishChanges(attempt, site, of)
}

async function checkOut({ inputRef }: SimulatedAttempt, { repo }: Site): Promise<void> {
  const keys: string[] = []
  for await (const { key } of openObjectSource(repo, inputRef).list('data/')) keys.push(key)
  if (!keys.includes('data/start')) throw new Error(`the checkout of ${inputRef} is not whole`)
}

function sessionOf({ repo, clock, fences, lease }: Site): Omit<SessionOptions, 'authority'> {
  return { repo, clock, random: { next: () => 0.5 }, fences, ...(lease && { signal: lease.lost }) }
}

function authorityOf(
  { snapshot, step }: SimulatedAttempt,
  { scenario, client, clock, queue }: Site,
  onCurrent: (askedAtMs: number) => void,
): AttemptAuthority {
  return {
    kind: 'attempt',
    attempt: snapshot,
    readFresh: async (options) => {
      const askedAtMs = clock.monotonicMs()
      const fresh = await readFreshAttempt(queue, snapshot, options)
      onCurrent(askedAtMs)
      return fresh
    },
    replace: scenario.replace ?? 'any',
    referenceTaskName: taskOf(step),
    seq: step,
    iteration: 0,
    executionId: runOf(client),
  }
}

function publishChanges(
  attempt: SimulatedAttempt,
  site: Site,
  of: { readonly authority: AttemptAuthority; readonly later: (() => Promise<void>)[] },
): Promise<PublicationResult> {
  const { scenario } = site
  return publish({
    ...sessionOf(site),
    authority: of.authority,
    target: { branch: TARGET, inputRef: attempt.inputRef, prefix: 'data/' },
    changes: changesOf(scenario, attempt),
    result: { value: resultOfBody(attempt), isRequired: scenario.onRetry === 'adopt' },
    cleanUpLater: (cleanUp) => of.later.push(cleanUp),
  })
}

/** What an attempt changes: the same file as the other attempts of its step, one of its own, or nothing. */
function changesOf(scenario: Scenario, attempt: SimulatedAttempt): PlannedChanges {
  const path = pathOf(scenario, attempt)
  if (path === undefined) return NO_CHANGES
  return { uploads: [uploadOf(path, attempt.client)], deletes: [] }
}

/** Where an attempt writes its name; `undefined`: nowhere. */
function pathOf(
  { bodies }: Scenario,
  { step, client, snapshot: { retryCount } }: Pick<SimulatedAttempt, 'step' | 'client' | 'snapshot'>,
): string | undefined {
  const body = bodies[(step + retryCount) % bodies.length]
  if (body === 'nothing') return undefined
  return body === 'same file' ? `data/${taskOf(step)}` : `data/${taskOf(step)}-${client}`
}
