// One attempt as a worker runs it, from what it was handed to the result that the queue has: the real code of checkout source,
// fences, publication, failures and delivery. The directory alone is replaced by a list, so that thousands run in a second.
import type { Clock } from '../../src/base/clock.ts'
import type { Json } from '../../src/base/json.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { plainRedactor } from '../../src/base/redaction.ts'
import type { HardFences } from '../../src/publication/hard-fences.ts'
import type { PlannedChanges } from '../../src/publication/planned-changes.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import type { PublicationResult } from '../../src/publication/publication.ts'
import { adopt, type Adoption } from '../../src/publication/adopt.ts'
import type { AttemptAuthority } from '../../src/publication/authority.ts'
import { publish } from '../../src/publication/publish.ts'
import type { SessionOptions } from '../../src/publication/session.ts'
import { openObjectSource } from '../../src/worker/attempt/object-source.ts'
import { readFreshAttempt } from '../../src/worker/attempt/read-fresh-attempt.ts'
import type { AttemptOutcome } from '../../src/worker/attempt/run-attempt.ts'
import type { TaskQueue, TaskResult } from '../../src/worker/ports.ts'
import { mapFailure } from '../../src/worker/results/failure-map.ts'
import { deliverItem, finishAttempt } from '../../src/worker/results/finish-attempt.ts'
import type { Outbox } from '../../src/worker/results/outbox.ts'
import { NO_CHANGES, TARGET, uploadOf } from '../support/publication-world.ts'
import type { SimulatedAttempt } from './queue.ts'
import type { QueuePort } from './queue-port.ts'
import type { Scenario } from './scenarios.ts'

export interface AttemptSite {
  readonly scenario: Scenario
  readonly client: string
  readonly clock: Clock
  readonly repo: VersionedRepo
  readonly queue: QueuePort
  readonly outbox: Outbox
  readonly fences?: HardFences
  readonly pause: (what: string) => Promise<void>
  /** The body begins. */
  readonly onBody: () => void
  /** An earlier publication was found and is going to be reported. */
  readonly onAdoption: () => void
}

/** The publication, or why there is none. */
export async function runSimulatedAttempt(attempt: SimulatedAttempt, site: AttemptSite): Promise<unknown> {
  let currentAtMs: number | undefined
  const outcome = await runBodyAndPublish(attempt, site, (atMs) => {
    currentAtMs = atMs
  })
  const { queue, outbox, clock } = site
  await finishAttempt(
    { attempt: attempt.snapshot, outcome: { ...outcome, currentAtMs }, lease: undefined },
    { queue: queue as TaskQueue, outbox, clock, logger: silentLogger },
  )
  return outcome.error ?? outcome.publication
}

async function runBodyAndPublish(
  attempt: SimulatedAttempt,
  site: AttemptSite,
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
  } catch (error) {
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
  site: AttemptSite,
  authority: AttemptAuthority,
): Promise<Adoption | undefined> {
  if (site.scenario.onRetry !== 'adopt') return undefined
  const adoption = await adopt({ ...sessionOf(site), authority, target: { branch: TARGET, inputRef } })
  if (adoption !== undefined) site.onAdoption()
  return adoption
}

async function runAndPublish(
  attempt: SimulatedAttempt,
  site: AttemptSite,
  of: { readonly authority: AttemptAuthority; readonly later: (() => Promise<void>)[] },
): Promise<PublicationResult> {
  await checkOut(attempt, site)
  site.onBody()
  await site.pause('run the body')
  return publishChanges(attempt, site, of)
}

async function checkOut({ inputRef }: SimulatedAttempt, { repo }: AttemptSite): Promise<void> {
  const keys: string[] = []
  for await (const { key } of openObjectSource(repo, inputRef).list('data/')) keys.push(key)
  if (!keys.includes('data/start')) throw new Error(`the checkout of ${inputRef} is not whole`)
}

function sessionOf({ repo, clock, fences }: AttemptSite): Omit<SessionOptions, 'authority'> {
  return { repo, clock, random: { next: () => 0.5 }, fences }
}

function authorityOf(
  { snapshot, step }: SimulatedAttempt,
  { scenario, client, clock, queue }: AttemptSite,
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
    executionId: client,
  }
}

function publishChanges(
  attempt: SimulatedAttempt,
  site: AttemptSite,
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

export function taskOf(step: number): string {
  return `step-${step}`
}

/** What an attempt changes: the same file as the other attempts of its step, one of its own, or nothing. */
function changesOf(scenario: Scenario, attempt: SimulatedAttempt): PlannedChanges {
  const path = pathOf(scenario, attempt)
  if (path === undefined) return NO_CHANGES
  return { uploads: [uploadOf(path, attempt.client)], deletes: [] }
}

/** Where an attempt writes its name; `undefined`: nowhere. */
export function pathOf(
  { bodies }: Scenario,
  { step, client, snapshot: { retryCount } }: Pick<SimulatedAttempt, 'step' | 'client' | 'snapshot'>,
): string | undefined {
  const body = bodies[(step + retryCount) % bodies.length]
  if (body === 'nothing') return undefined
  return body === 'same file' ? `data/${taskOf(step)}` : `data/${taskOf(step)}-${client}`
}

/** What the next process on the same disk does with the results of the one that died. */
export async function sendLeftResults({
  queue,
  outbox,
  clock,
}: Pick<AttemptSite, 'queue' | 'outbox' | 'clock'>): Promise<void> {
  for (const item of await outbox.pending())
    await deliverItem(item, { queue: queue as TaskQueue, outbox, clock, logger: silentLogger })
}
