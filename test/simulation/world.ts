// The real publication code, several attempts of it at once, over a repository and a queue in which every request waits
// for the scheduler and may be refused, lost before or after its effect, arrive late, or be cut off by a death.
import type { CommitRef } from '../../src/base/ids.ts'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { randomWhole } from '../support/random-whole.ts'
import { PublishFenceError } from '../../src/fences/publish-fence.ts'
import type { PlannedChanges } from '../../src/publication/planned-changes.ts'
import { publish } from '../../src/publication/publish.ts'
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import type { RepoCall, RepoFault, RepoScript } from '../../src/testing/scripted-world.ts'
import { NO_CHANGES, TARGET, uploadOf } from '../support/publication-world.ts'
import { UnavailableError } from '../../src/base/errors.ts'
import { SimulatedQueue, type SimulatedAttempt } from './queue.ts'
import { Scheduler } from './scheduler.ts'

export interface Scenario {
  readonly seed: number
  readonly steps: number
  /** How many faults there are in all; afterwards nothing goes wrong any more. */
  readonly faults: number
  /** Whether somebody else commits to the branch once. */
  readonly isDisturbed: boolean
}

const STEPS_MAX = 20_000
const FAULTS: readonly RepoFault[] = ['refuse', 'lose-request', 'lose-answer', 'late']

export class World {
  readonly repo: ScriptedRepo
  readonly queue: SimulatedQueue
  readonly firstInput: CommitRef
  readonly scheduler: Scheduler
  readonly results = new Map<string, unknown>()
  readonly foreign: CommitRef[] = []
  /** Writes to the branch by an attempt that had been replaced since its last check. */
  readonly staleWrites: number[] = []
  /** Writes to the branch without a check of the attempt since its previous one, or after a check that failed. */
  readonly uncheckedWrites: number[] = []
  readonly history: string[] = []
  lateEffects = 0
  /** Attempts that were found current since they last wrote the branch. */
  readonly #checked = new Set<string>()
  readonly #random: Random
  readonly #scenario: Scenario
  #faultsLeft: number

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#random = seededRandom(scenario.seed)
    this.#faultsLeft = scenario.faults
    this.scheduler = new Scheduler(this.#random)
    const script: RepoScript = {
      arrive: (call) => this.#arrive(call),
      answer: (call) => this.scheduler.pause(call.client, `answer to ${call.request}`),
      later: (call, effect) => this.#later(call, effect),
    }
    this.repo = new ScriptedRepo({
      script,
      now: () => new Date(1_700_000_000_000 + this.scheduler.steps * 1000),
    })
    this.firstInput = this.repo.commitDirectly(TARGET, { 'data/start': 'start' }, 'Start')
    this.queue = new SimulatedQueue({
      steps: scenario.steps,
      firstInput: this.firstInput,
      onAttempt: (attempt) => this.#start(attempt),
    })
  }

  /** Runs until nothing is left to happen. */
  async run(): Promise<void> {
    this.queue.start()
    while (this.scheduler.steps < STEPS_MAX) {
      if (this.#spend(0.02)) this.#kill()
      if (this.#spend(0.02)) this.#timeOut(this.queue.open[0])
      if (this.#scenario.isDisturbed && this.foreign.length === 0 && this.#random.next() < 0.01)
        this.#disturb()
      if (!this.scheduler.idle) await this.scheduler.step()
      else if (this.queue.workflow === 'RUNNING' && this.queue.open.length > 0)
        this.#timeOut(this.queue.open[0])
      else return
    }
    throw new Error('it does not come to an end')
  }

  clientOf(attempt: SimulatedAttempt): string {
    return attempt.snapshot.workerId
  }

  #start(attempt: SimulatedAttempt): void {
    const client = this.clientOf(attempt)
    this.#work(attempt, client).catch((error: unknown) => {
      this.results.set(client, error)
    })
  }

  /** What a worker does, as far as publication is concerned. */
  async #work(attempt: SimulatedAttempt, client: string): Promise<void> {
    const { scheduler, queue } = this
    await scheduler.pause(client, 'body')
    const changes = this.#planChanges(attempt)
    try {
      const result = await publish({
        repo: this.repo.connect(client),
        target: { branch: TARGET, inputRef: attempt.inputRef, prefix: 'data/' },
        changes,
        authority: {
          kind: 'attempt',
          attempt: attempt.snapshot,
          readFresh: async () => {
            await scheduler.pause(client, 'read the attempt')
            if (this.#spend(0.05)) throw new UnavailableError('testing/unavailable', 'the queue is away')
            const fresh = queue.read(attempt)
            if (queue.isCurrent(attempt)) this.#checked.add(client)
            else this.#checked.delete(client)
            await scheduler.pause(client, 'hear of the attempt')
            return fresh
          },
          referenceTaskName: `step-${attempt.step}`,
          seq: attempt.step,
          iteration: 0,
          executionId: client,
        },
        clock: scheduler.clockFor(client),
        random: this.#random,
        observer: ({ step, outcome }) => this.history.push(`${scheduler.steps} ${client} ${step} ${outcome}`),
      })
      this.results.set(client, result)
      await scheduler.pause(client, 'report', { isPending: true })
      queue.complete(attempt, result.outputRef)
    } catch (error) {
      this.results.set(client, error)
      await scheduler.pause(client, 'report', { isPending: true })
      queue.fail(attempt, { isTerminal: error instanceof PublishFenceError })
    }
  }

  #planChanges({ step, snapshot }: SimulatedAttempt): PlannedChanges {
    if (this.#random.next() < 0.2) return NO_CHANGES
    // Half of the attempts of one step change the same file, so that merges conflict as well as combine.
    const name = this.#random.next() < 0.5 ? `step-${step}` : `step-${step}-${snapshot.workerId}`
    return { uploads: [uploadOf(`data/${name}`, snapshot.workerId)], deletes: [] }
  }

  async #arrive(call: RepoCall): Promise<RepoFault> {
    await this.scheduler.pause(call.client, call.request, { isPending: call.writes })
    this.#noteWrite(call)
    if (!this.#spend(0.06)) return 'none'
    const fault = FAULTS[randomWhole(this.#random, { least: 0, most: FAULTS.length - 1 })] ?? 'none'
    this.history.push(`${this.scheduler.steps} ${call.client} ${call.request} (${fault})`)
    return fault
  }

  #later(call: RepoCall, effect: () => void): void {
    if (call.branch === TARGET) this.lateEffects++
    const arrival = async (): Promise<void> => {
      // On the wire, and so nobody's to kill.
      await this.scheduler.pause('wire', call.request)
      effect()
    }
    arrival().catch((error: unknown) => {
      this.results.set('wire', error)
    })
  }

  #noteWrite({ branch, writes, client, number }: RepoCall): void {
    if (branch !== TARGET || !writes) return
    const attempt = this.queue.attempts.find((one) => this.clientOf(one) === client)
    if (attempt !== undefined && !this.queue.isCurrent(attempt)) this.staleWrites.push(number)
    if (!this.#checked.delete(client)) this.uncheckedWrites.push(number)
  }

  #kill(): void {
    const alive = this.queue.open.filter((attempt) => !this.scheduler.isDead(this.clientOf(attempt)))
    const victim = alive[randomWhole(this.#random, { least: 0, most: Math.max(0, alive.length - 1) })]
    if (victim === undefined) return
    this.history.push(`${this.scheduler.steps} ${this.clientOf(victim)} dies`)
    this.scheduler.kill(this.clientOf(victim))
  }

  #timeOut(attempt: SimulatedAttempt | undefined): void {
    if (attempt === undefined) return
    this.history.push(`${this.scheduler.steps} ${this.clientOf(attempt)} times out`)
    this.queue.timeOut(attempt)
  }

  #disturb(): void {
    const number = this.scheduler.steps
    this.foreign.push(this.repo.commitDirectly(TARGET, { [`foreign-${number}`]: 'x' }))
    this.history.push(`${number} somebody else commits`)
  }

  #spend(chance: number): boolean {
    if (this.#faultsLeft === 0 || this.#random.next() >= chance) return false
    this.#faultsLeft--
    return true
  }
}
