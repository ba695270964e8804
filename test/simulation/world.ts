// The real code of attempts, several at once, over a repository and a queue in which every request waits for its turn and
// may be refused, lost before or after its effect, arrive late or twice, or be cut off by a death.
import type { CommitRef } from '../../src/base/ids.ts'
import { isPeragoError } from '../../src/base/errors.ts'
import type { TaskId, WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import type { HardFences } from '../../src/publication/hard-fences.ts'
import { writeLedger } from '../../src/publication/ledger.ts'
import type { Metadata } from '../../src/publication/ports.ts'
import { relocate } from '../../src/publication/relocate.ts'
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import type { RepoCall, RepoFault, RepoScript } from '../../src/testing/scripted-world.ts'
import { TARGET } from '../support/publication-world.ts'
import { runSimulatedAttempt, sendLeftResults, taskOf, type AttemptSite } from './attempt.ts'
import { Pruned, type Decider, type Question } from './decisions.ts'
import { MemoryOutboxes } from './outbox.ts'
import { SimulatedQueue, WORKFLOW, type SimulatedAttempt } from './queue.ts'
import type { Scenario } from './scenarios.ts'
import { Scheduler, settle, WIRE } from './scheduler.ts'
import { openQueuePort } from './queue-port.ts'

const STEPS_MAX = 5_000
/** The clock is read about as often between an answer about the branch and the write. */
const STALL_READS_MAX = 6
export const OPERATOR = 'operator'
export const RESTARTED = 'restarted-'
export const ABANDONED = 'abandoned'
const WRITE_FAULTS: readonly RepoFault[] = ['none', 'lose-answer', 'lose-request', 'refuse', 'late', 'twice']
const READ_FAULTS: readonly RepoFault[] = ['none', 'refuse']

/** What may go wrong, and how often; each occurrence uses one up. */
export interface Budget {
  /** How often somebody is interrupted who could go on. */
  preemptions: number
  faults: number
  crashes: number
  timeouts: number
  foreign: number
  stalls: number
  rollbacks: number
}

interface Event {
  readonly who: string
  readonly uses: keyof typeof DEEDS
  readonly act: (who: string) => void
}

const DEEDS = {
  crashes: 'dies',
  timeouts: 'times out',
  foreign: 'commits',
  rollbacks: 'rolls the branch back',
} as const satisfies Partial<Record<keyof Budget, string>>

/** The body of an attempt began, or an earlier publication was taken for its own, with what it had been shown last. */
export interface NotedChoice {
  readonly attempt: SimulatedAttempt
  readonly head: CommitRef | undefined
  readonly isChecked: boolean
}

/** A write to the branch, with what its maker knew when it was sent. */
export interface NotedWrite {
  readonly call: RepoCall
  readonly isChecked: boolean
  readonly isOld: boolean
}

export class World {
  readonly repo: ScriptedRepo
  readonly queue: SimulatedQueue
  readonly scheduler = new Scheduler()
  readonly outboxes = new MemoryOutboxes()
  readonly scenario: Scenario
  readonly firstInput: CommitRef
  readonly results = new Map<string, unknown>()
  /** Commits of others that they were told of. */
  readonly foreign: CommitRef[] = []
  readonly writes: NotedWrite[] = []
  readonly bodies: NotedChoice[] = []
  readonly adoptions: NotedChoice[] = []
  /** Whether a result was sent that no disk had, or taken off its disk before the queue had decided about it. */
  isResultRisked = false
  /** Effects on the branch of attempts that had been replaced, by their position among the updates. */
  readonly staleUpdates = new Set<number>()
  readonly story: string[] = []
  lateEffects = 0
  isPruned = false
  isRolledBack = false
  #wasAway = false
  readonly #left: Budget
  readonly #decider: Decider
  readonly #site: Pick<AttemptSite, 'scenario' | 'fences'>
  /** Attempts that were found current since they last wrote the branch. */
  readonly #checked = new Set<string>()
  readonly #heard = { attempt: new Map<string, number>(), head: new Map<string, number>() }

  constructor(scenario: Scenario, decider: Decider, fences: HardFences | undefined) {
    this.scenario = scenario
    this.#decider = decider
    this.#left = { ...scenario.budget }
    const script: RepoScript = {
      arrive: (call) => this.#arrive(call),
      answer: (call) => this.#answer(call),
      later: (call, effect) => this.#later(call, effect),
    }
    this.repo = new ScriptedRepo({
      ...{ script, now: () => new Date(1_700_000_000_000) },
      takesRecords: scenario.isOlder !== true,
    })
    const isFenced = scenario.strength === 'hard' && scenario.isFenceYoung !== true
    if (isFenced) this.repo.commitDirectly(TARGET, { [FENCE_PATH]: FENCE_FILE }, 'Fence')
    this.repo.runsActions = scenario.isFenceOff !== true
    this.firstInput = this.repo.commitDirectly(TARGET, { 'data/start': 'start' }, 'Start')
    if (scenario.isProtected === true) this.repo.protectedBranches.add(TARGET)
    const isHard = scenario.strength === 'hard' && fences !== undefined
    this.#site = { scenario, ...(isHard && { fences }) }
    this.queue = new SimulatedQueue({
      ...{ steps: scenario.steps, retriesMax: scenario.retriesMax, firstInput: this.firstInput },
      onAttempt: (attempt) => this.#start(attempt),
    })
    if (scenario.isAbandoned === true) this.#abandon()
  }

  /** Whether at most one answer was lost, no server was away, and nobody was slow. */
  get isAnsweredButOnce(): boolean {
    const { faults, stalls } = this.scenario.budget
    return faults - this.#left.faults <= 1 && !this.#wasAway && this.#left.stalls === stalls
  }

  /** Runs until nothing is left to happen, or until a state that is known. */
  async run(): Promise<void> {
    try {
      this.queue.start()
      await settle()
      while (this.scheduler.steps < STEPS_MAX) if (this.isPruned || !(await this.#turn())) return
    } catch (error) {
      if (!(error instanceof Pruned)) throw error
      this.isPruned = true
      return
    }
    throw new Error('it does not come to an end')
  }

  async #turn(): Promise<boolean> {
    this.#happen()
    const candidates = this.scheduler.candidates()
    const [calm] = candidates
    if (calm === undefined) return this.#goOnWithoutAnybody()
    const isBusy = calm.actor === this.scheduler.current && !calm.isIdle
    const mayInterrupt = !isBusy || this.#left.preemptions > 0
    const index = mayInterrupt ? this.#pick('turn', candidates.length) : 0
    if (index > 0 && isBusy) this.#left.preemptions--
    await this.scheduler.step(candidates[index] ?? calm)
    return true
  }

  async #goOnWithoutAnybody(): Promise<boolean> {
    const [open] = this.queue.open
    if (this.queue.workflow !== 'RUNNING' || open === undefined) return false
    this.#tell(`${open.client} has timed out`)
    this.queue.timeOut(open)
    await settle()
    return true
  }

  /** Perhaps something happens that nobody in this world has asked for. */
  #happen(): void {
    const { crashes, timeouts, foreign, rollbacks } = this.#left
    if (crashes + timeouts + foreign + rollbacks === 0) return
    const events = this.#events()
    const picked = events.length === 0 ? 0 : this.#pick('event', events.length + 1)
    const event = events[picked - 1]
    if (event === undefined) return
    this.#left[event.uses]--
    this.#tell(`${event.who} ${DEEDS[event.uses]}`)
    event.act(event.who)
  }

  #events(): Event[] {
    const { crashes, timeouts, foreign, rollbacks } = this.#left
    const events: Event[] = []
    if (foreign > 0) events.push({ who: 'somebody else', uses: 'foreign', act: this.#commitForeign })
    if (timeouts > 0)
      for (const { client } of this.queue.open)
        events.push({ who: client, uses: 'timeouts', act: this.#timeOut })
    if (crashes > 0)
      for (const who of this.scheduler.alive()) events.push({ who, uses: 'crashes', act: this.#kill })
    if (rollbacks > 0 && this.#rollbackTarget() !== undefined)
      events.push({ who: 'the operator', uses: 'rollbacks', act: this.#rollBack })
    return events
  }

  #timeOut = (client: string): void => {
    const attempt = this.queue.ofClient(client)
    if (attempt !== undefined) this.queue.timeOut(attempt)
  }

  #start(attempt: SimulatedAttempt): void {
    const { client } = attempt
    const { repo, scheduler } = this
    this.#tell(`${client} has attempt ${attempt.snapshot.retryCount} of step ${attempt.step}`)
    const site: AttemptSite = {
      ...this.#site,
      client,
      clock: scheduler.clockFor(client),
      repo: repo.connect(client),
      queue: this.#openQueue(client),
      outbox: this.#openOutbox(client, client),
      onBody: () => this.bodies.push(this.#choiceOf(attempt)),
      onAdoption: () => this.adoptions.push(this.#choiceOf(attempt)),
      pause: (what) => scheduler.pause(client, what),
    }
    runSimulatedAttempt(attempt, site).then(
      (result) => this.#end(client, result),
      (error: unknown) => this.#end(client, error),
    )
  }

  #choiceOf(attempt: SimulatedAttempt): NotedChoice {
    const { client } = attempt
    const reading = this.repo.readings.findLast((one) => one.client === client && one.branch === TARGET)
    return { attempt, head: reading?.head, isChecked: this.#checked.has(client) }
  }

  #openOutbox(disk: string, client: string): AttemptSite['outbox'] {
    return this.outboxes.open(disk, {
      write: (what) => this.scheduler.pause(client, what),
      onSettle: ({ attempt: { taskId } }) => {
        const { status, workerId } = this.queue.readTask(taskId) ?? {}
        if (status === 'IN_PROGRESS' && workerId === disk) this.isResultRisked = true
      },
    })
  }

  #openQueue(client: string): AttemptSite['queue'] {
    return openQueuePort({
      client,
      queue: this.queue,
      arrive: (what, writes) => this.#arriveAtQueue(client, what, writes),
      later: (effect) => this.#later({ client, request: 'post' }, effect),
      heard: (what, answer) => this.#hearQueue(client, what, answer),
    })
  }

  #end(client: string, result: unknown): void {
    this.results.set(client, result)
    this.#tell(`${client} ends: ${describeEnd(result)}`)
  }

  async #arriveAtQueue(client: string, what: string, writes: boolean): Promise<RepoFault> {
    if (writes && !this.outboxes.isWaiting(client.replace(RESTARTED, ''))) this.isResultRisked = true
    await this.scheduler.pause(client, what, { isOnItsWay: writes })
    return this.#unlessPruned(() => this.#chooseFault(client, what, writes ? WRITE_FAULTS : READ_FAULTS))
  }

  async #hearQueue(client: string, what: string, answer: string): Promise<void> {
    this.scheduler.hear(client, `${what}${answer}`)
    if (this.scheduler.isDead(client)) return new Promise(() => undefined)
    if (what === 'post') return
    this.scheduler.onNextRead(client, (nowMs) => this.#heard.attempt.set(client, nowMs))
    if (what !== 'read the task') return
    const attempt = this.queue.ofClient(client)
    if (attempt !== undefined && this.queue.isCurrent(attempt)) this.#checked.add(client)
    else this.#checked.delete(client)
  }

  async #arrive(call: RepoCall): Promise<RepoFault> {
    this.#noteWrite(call)
    await this.scheduler.pause(call.client, nameOf(call), { isOnItsWay: call.writes })
    const faults = call.writes ? WRITE_FAULTS : READ_FAULTS
    const fault = await this.#unlessPruned(() => this.#chooseFault(call.client, nameOf(call), faults))
    if (call.writes && call.branch === TARGET) this.#noteStale(call)
    return fault
  }

  #chooseFault(client: string, what: string, faults: readonly RepoFault[]): RepoFault {
    const isAlive = !this.scheduler.isDead(client)
    const fault =
      isAlive && this.#left.faults > 0 ? (faults[this.#pick('fault', faults.length)] ?? 'none') : 'none'
    if (fault !== 'none') {
      this.#left.faults--
      if (fault === 'refuse') this.#wasAway = true
      this.scheduler.hear(client, fault)
    }
    this.#tell(
      `${client}: ${what}${isAlive ? '' : ', after its death'}${fault === 'none' ? '' : ` (${fault})`}`,
    )
    return fault
  }

  /** Right after the effect. What happens to an answer on its way matters only by the time that it takes. */
  async #answer(call: RepoCall): Promise<void> {
    const { scheduler, repo } = this
    const head = repo.head(call.branch ?? TARGET) ?? ''
    scheduler.hear(call.client, `${call.request}${head}${repo.model.tags.size}`)
    if (scheduler.isDead(call.client)) return new Promise(() => undefined)
    if (call.request === 'log' && call.branch === TARGET)
      scheduler.onNextRead(call.client, (nowMs) => this.#heard.head.set(call.client, nowMs))
    if (this.#left.stalls > 0 && call.request === 'log')
      await this.#unlessPruned(() => this.#stall(call.client))
  }

  #stall(client: string): void {
    const reads = this.#pick('stall', STALL_READS_MAX + 1)
    if (reads === 0) return
    this.#left.stalls--
    this.#tell(`${client} stalls`)
    this.scheduler.stall(client, reads)
  }

  /** In the code of an attempt, which must not hear of it. */
  #unlessPruned<T>(ask: () => T): T | Promise<T> {
    try {
      return ask()
    } catch (error) {
      if (!(error instanceof Pruned)) throw error
      this.isPruned = true
      return new Promise(() => undefined)
    }
  }

  #later(call: Pick<RepoCall, 'client'> & { readonly request: string }, effect: () => void): void {
    const arrival = async (): Promise<void> => {
      // On the wire, and so nobody's to kill.
      await this.scheduler.pause(WIRE, `${call.request} of ${call.client}`)
      this.lateEffects++
      this.#tell(`${call.client}: ${call.request} arrives late`)
      if ('number' in call) this.#noteStale(call as RepoCall)
      effect()
    }
    arrival().catch((error: unknown) => this.results.set(WIRE, error))
  }

  /** As it is sent: what happens on the way is the window. A collapse needs no check: it does nothing on another head. */
  #noteWrite(call: RepoCall): void {
    const { branch, writes, client } = call
    if (branch !== TARGET || !writes || call.isCollapse === true) return
    const isAttempt = this.queue.ofClient(client) !== undefined
    const attemptMs = isAttempt ? (this.#heard.attempt.get(client) ?? -Infinity) : Infinity
    const heardMs = Math.min(attemptMs, this.#heard.head.get(client) ?? -Infinity)
    this.writes.push({
      call,
      isChecked: !isAttempt || this.#checked.delete(client),
      isOld: this.scheduler.nowMs(call.client) - heardMs > this.scenario.ageMaxMs,
    })
  }

  #noteStale({ client }: RepoCall): void {
    const attempt = this.queue.ofClient(client)
    if (attempt !== undefined && !this.queue.isCurrent(attempt))
      this.staleUpdates.add(this.repo.updates.length)
  }

  #commitForeign = (): void => {
    const number = this.foreign.length
    const { foreignPath, onRetry } = this.scenario
    const isSame = foreignPath === 'same' && this.#pick('choice', 2) === 1
    const path = isSame ? 'data/step-0' : `foreign/${number}`
    const isPublication = onRetry === 'adopt' && this.#pick('choice', 2) === 1
    const metadata = isPublication ? this.#ledgerOf('another workflow', 'stranger') : {}
    const files = { [path]: `foreign ${number}` }
    this.foreign.push(putCommit(this.repo, files, { ...metadata, foreign: String(number) }))
  }

  /** What a worker left that nobody knows of any more. */
  #abandon(): void {
    const fence = this.scenario.isFenceYoung === true ? { [FENCE_PATH]: FENCE_FILE } : {}
    putCommit(this.repo, { 'data/step-0': ABANDONED, ...fence }, this.#ledgerOf(WORKFLOW, ABANDONED))
  }

  /** As an attempt of the first step would describe its commit at the head of the branch. */
  #ledgerOf(workflowId: string, client: string): Metadata {
    const { repository } = this.repo
    const attempt = {
      ...{ taskId: client as TaskId, workflowId: workflowId as WorkflowId, workerId: client },
      ...{ retryCount: 0, pollCount: 1, startTimeMs: 0 },
    }
    const readFresh = (): Promise<never> => Promise.reject(new Error('nobody asks'))
    const task = { referenceTaskName: taskOf(0), seq: 0, iteration: 0 }
    return writeLedger({
      authority: { kind: 'attempt', attempt, readFresh, ...task, executionId: client },
      ...{ repository, branch: TARGET, inputRef: this.repo.head(TARGET) ?? this.firstInput },
      result: { kind: 'inline', value: { by: client } },
    })
  }

  #kill = (actor: string): void => {
    for (const { what, goOn } of this.scheduler.kill(actor))
      if (this.#pick('choice', 2) === 1) this.scheduler.pause(WIRE, `${actor}: ${what}`).then(goOn, goOn)
    if (actor.startsWith(RESTARTED) || !this.outboxes.isWaiting(actor)) return
    const client = `${RESTARTED}${actor}`
    const queue = this.#openQueue(client)
    const outbox = this.#openOutbox(actor, client)
    sendLeftResults({ queue, outbox, clock: this.scheduler.clockFor(client) }).then(
      () => this.#end(client, 'sent'),
      (error: unknown) => this.#end(client, error),
    )
  }

  #rollbackTarget(): { readonly head: CommitRef; readonly to: CommitRef } | undefined {
    const head = this.repo.head(TARGET)
    const to = head && this.repo.model.commit(head)?.parents[0]
    return head === undefined || to === undefined || head === this.firstInput ? undefined : { head, to }
  }

  #rollBack = (): void => {
    const target = this.#rollbackTarget()
    if (target === undefined) return
    this.isRolledBack = true
    const { fences } = this.#site
    relocate({
      repo: this.repo.connect(OPERATOR),
      authority: { kind: 'actor', actor: OPERATOR, subject: 'rollback', executionId: OPERATOR },
      branch: TARGET,
      expectedHead: target.head,
      to: target.to,
      clock: this.scheduler.clockFor(OPERATOR),
      random: { next: () => 0.5 },
      fences,
    }).then(
      (result) => this.#end(OPERATOR, result),
      (error: unknown) => this.#end(OPERATOR, error),
    )
  }

  #pick(question: Question, options: number): number {
    return options === 1 ? 0 : this.#decider.pick(question, options, () => this.#describe())
  }

  #describe(): string {
    const { model, updates } = this.repo
    const branches = [...model.branches].map(
      ([name, { head, uncommitted }]) => `${name}${head}${uncommitted.size}`,
    )
    const moves = updates.map(({ client, from, to, branch }) =>
      branch === TARGET ? `${client}${from ?? ''}${to}` : '',
    )
    const left = Object.values(this.#left).join()
    const outboxes = this.outboxes.describe()
    const noted = `${[...this.staleUpdates].join()}${[...this.#checked].join()}`
    return [
      ...[branches.join(), [...model.tags.keys()].join(), moves.join(''), left, outboxes, noted],
      ...[this.queue.describe(), this.scheduler.describe()],
    ].join('#')
  }

  #tell(line: string): void {
    this.story.push(line)
  }
}

function nameOf({ request, branch }: RepoCall): string {
  return branch === undefined
    ? request
    : `${request} ${branch === TARGET ? 'the branch' : 'its staging branch'}`
}

function describeEnd(result: unknown): string {
  if (isPeragoError(result)) return result.code
  if (result instanceof Error) return String(result)
  return typeof result === 'string'
    ? result
    : ((Object(result) as { readonly action?: string }).action ?? 'done')
}

function putCommit(
  repo: ScriptedRepo,
  files: Readonly<Record<string, string>>,
  metadata: Readonly<Record<string, string>>,
): CommitRef {
  const { model } = repo
  const head = repo.head(TARGET)
  const tree = new Map(head && model.treeAt(head))
  for (const [path, text] of Object.entries(files)) tree.set(path, model.object(path, Buffer.from(text), {}))
  const { ref } = model.addCommit({
    parents: head === undefined ? [] : [head],
    message: 'Work',
    metadata,
    tree,
  })
  repo.move({ client: 'direct', branch: TARGET, how: 'commit', to: ref })
  return ref
}
