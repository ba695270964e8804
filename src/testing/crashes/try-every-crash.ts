/** Kills a task at every point of its attempt, loses every answer once, and shows that nothing is lost. */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { z } from 'zod'
import { InvalidError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { HardFences } from '../../publication/hard-fences.ts'
import type { TaskDefinition, TaskWorkspaceSpec } from '../../tasks/task-definition.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import { CRASH_CASES_MAX, CRASH_SHRINK_TRIES_MAX } from '../limits.ts'
import { RandomDecider, ReplayDecider, SystematicDecider } from '../worlds/decisions.ts'
import { openWarmFences, shrink, tellStory, type RecordingDecider } from '../worlds/explore.ts'
import { NO_BUDGET, type Budget } from '../worlds/scenario.ts'
import type { Window } from '../worlds/verdict.ts'
import { runCase, type CrashCase, type CrashOutcome, type CrashRan } from './crash-case.ts'
import { readReplay, writeReplay, type Replay } from './replay.ts'
import { workOfTask } from './task-work.ts'

export interface CrashOptions<Params extends z.ZodType = z.ZodType> {
  /** A task with a workspace that it may write. */
  readonly task: TaskDefinition<Params, z.ZodType, TaskWorkspaceSpec>
  /** The path of the module that exports the task; needed where its body runs in a thread or a process. */
  readonly module?: string
  /** The parameters of the task, the same in every case. */
  readonly params: z.input<Params>
  /** Text by path: what the branch begins with. */
  readonly files?: Readonly<Record<string, string>>
  /** Asserts, by throwing, what must be true of every completed case, whatever happened in it. */
  readonly check?: (outcome: CrashOutcome) => unknown
  /** Called before each case: puts back what the task changes outside its directory. */
  readonly before?: () => unknown
  /** Default: with the hard fence, and then without it. */
  readonly strength?: 'hard' | 'soft'
  /** Whether somebody else commits to the branch in between; true unless set. */
  readonly foreignWriter?: boolean
  /** Whether every case has to publish and report the same as the undisturbed one; true unless set. */
  readonly isRepeatable?: boolean
  /**
   * How many cases of each strength are gone through; those with one trouble come first, then those with two. Unless set: all
   * with one trouble, at most 2,000.
   */
  readonly casesMax?: number
  /** How many random schedules of each strength follow, with several troubles in each; none unless set. */
  readonly seeds?: number
  /** Runs one case alone: the text of a failure. */
  readonly replay?: string
}

/** What was tried, and held. */
export interface CrashFigures {
  readonly cases: number
  /** Whether every point was tried with each trouble that may happen there. */
  readonly isEveryPointTried: boolean
  readonly attempts: number
  readonly crashes: number
  /** Answers that were lost, late or refused, and requests that were carried out twice. */
  readonly faults: number
  readonly timeouts: number
  /** Commits of somebody else. */
  readonly foreignCommits: number
  /** Leases that were renewed, or ran out. */
  readonly renewals: number
  /** What the soft fence does not prevent, and in how many cases it happened. */
  readonly windows: Readonly<Partial<Record<Window, number>>>
}

/** A case in which something did not hold. */
export class CrashCaseError extends Error {
  override readonly name = 'CrashCaseError'
  readonly problems: readonly string[]
  /** Who asked what, and where the trouble was. */
  readonly story: string
  /** For the option `replay`. */
  readonly replay: string

  constructor(of: {
    readonly problems: readonly string[]
    readonly story: string
    readonly replay: string
    readonly cases: number
  }) {
    const { problems, story, replay, cases } = of
    super(
      [
        `case ${cases} does not hold: ${problems.join('; ')}`,
        `replay: ${replay}`,
        'what happened:',
        story,
      ].join('\n'),
    )
    this.problems = problems
    this.story = story
    this.replay = replay
  }
}

/**
 * Runs a task as a worker does, over a repository and a task queue in memory. In every case something else goes wrong: the
 * process is killed before or after a request or the body, an answer is lost, late or refused, the lease runs out, the task
 * times out while it is carried out, somebody else commits. A retry follows, as Conductor would have it. Throws the story of the
 * first case in which a commit was lost, the branch does not have exactly the one reported publication, a staging branch
 * stays, something else was published than without trouble, or `check` throws.
 *
 * ```ts
 * const figures = await tryEveryCrash({
 *   task: addUp,
 *   params: { day: '2026-01-15' },
 *   files: { 'sales/2026-01-15.csv': '3\n4\n' },
 *   check: ({ files }) => assert.equal(files['totals/2026-01-15.txt'], '7\n'),
 * })
 * ```
 */
export async function tryEveryCrash<Params extends z.ZodType>(
  options: CrashOptions<Params>,
): Promise<CrashFigures> {
  requireWritable(options.task)
  const directory = await mkdtemp(join(tmpdir(), 'perago-crashes-'))
  const root = await openWorkspaceRoot({ directory, workerId: 'crashes' })
  try {
    const harness = new Harness(options, { root, fences: await openWarmFences() })
    await (options.replay === undefined ? harness.runAll() : harness.replay(readReplay(options.replay)))
    return harness.figures
  } finally {
    await root.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const REPOSITORY = 'scripted'

class Harness<Params extends z.ZodType> {
  readonly #options: CrashOptions<Params>
  readonly #parts: { readonly root: WorkspaceRoot; readonly fences: HardFences }
  readonly #counts = { cases: 0, attempts: 0, crashes: 0, faults: 0, timeouts: 0, foreign: 0, renewals: 0 }
  readonly #windows: Partial<Record<Window, number>> = {}
  #isEveryPointTried = true
  /** Of the undisturbed case. */
  #wanted: string | undefined
  #isUndisturbed = false

  constructor(
    options: CrashOptions<Params>,
    parts: { readonly root: WorkspaceRoot; readonly fences: HardFences },
  ) {
    this.#options = options
    this.#parts = parts
  }

  get figures(): CrashFigures {
    const { foreign: foreignCommits, ...counts } = this.#counts
    return {
      ...counts,
      foreignCommits,
      isEveryPointTried: this.#isEveryPointTried,
      windows: { ...this.#windows },
    }
  }

  async runAll(): Promise<void> {
    const { strength, seeds = 0 } = this.#options
    for (const each of strength === undefined ? (['hard', 'soft'] as const) : [strength]) {
      await this.#goThrough(each)
      for (let seed = 1; seed <= seeds; seed++)
        await this.#require({ strength: each, mode: 'seeds' }, new RandomDecider(seed))
    }
  }

  async replay({ strength, mode, answers }: Replay): Promise<void> {
    await this.#runUndisturbed(strength, new ReplayDecider([]))
    await this.#require({ strength, mode }, new ReplayDecider(answers))
  }

  /** Says what is wrong with the task itself, before anything else is. */
  async #runUndisturbed(strength: Replay['strength'], decider: RecordingDecider): Promise<void> {
    this.#wanted = undefined
    this.#isUndisturbed = true
    const ran = await this.#require({ strength, mode: 'cases' }, decider)
    this.#isUndisturbed = false
    if (this.#options.isRepeatable !== false) this.#wanted = ran.changed
  }

  async #goThrough(strength: Replay['strength']): Promise<void> {
    // A task may remember what no state of the world shows.
    const decider = new SystematicDecider({ leavesOutKnown: false })
    await this.#runUndisturbed(strength, decider)
    const withOneTrouble = decider.waiting
    const { casesMax = Math.min(withOneTrouble + 1, CRASH_CASES_MAX) } = this.#options
    if (casesMax <= withOneTrouble) this.#isEveryPointTried = false
    for (let count = 1; count < casesMax && decider.next(); count++)
      await this.#require({ strength, mode: 'cases' }, decider)
  }

  async #require(of: Omit<Replay, 'answers'>, decider: RecordingDecider): Promise<CrashRan> {
    const ran = await this.#run(of, decider)
    this.#count(ran)
    if (ran.problems.length === 0) return ran
    const isSame = (one: CrashRan): boolean =>
      one.problems.some((problem) => kindOf(problem) === kindOf(ran.problems[0] ?? ''))
    const short = await shrink(ran, (replay) => this.#run(of, replay), {
      isSame,
      triesMax: CRASH_SHRINK_TRIES_MAX,
    })
    throw new CrashCaseError({
      problems: short.problems,
      story: tellStory(short),
      replay: writeReplay({ ...of, answers: short.picks }),
      cases: this.#counts.cases,
    })
  }

  async #run({ strength, mode }: Omit<Replay, 'answers'>, decider: RecordingDecider): Promise<CrashRan> {
    const { task, module, params, files = {}, check, before } = this.#options
    const { root, fences } = this.#parts
    await before?.()
    const modulePath = module === undefined ? undefined : resolve(module)
    const work = workOfTask({
      ...{ task, modulePath, files, root, repository: REPOSITORY },
      params: JSON.parse(JSON.stringify(params ?? null)) as Json,
    })
    const of: CrashCase = {
      ...{ task, work, strength, fences, check, wanted: this.#wanted, isUndisturbed: this.#isUndisturbed },
      budget: this.#budgetOf(mode),
    }
    try {
      return await runCase(of, decider)
    } finally {
      await removeAttempts(root.directory)
    }
  }

  #budgetOf(mode: Replay['mode']): Budget {
    const foreign = this.#options.foreignWriter === false ? 0 : 1
    const one = { ...NO_BUDGET, foreign, faults: 2, crashes: 2, timeouts: 1, renewals: 1, preemptions: 1 }
    return mode === 'cases' ? one : { ...one, faults: 4, crashes: 3, renewals: 3, preemptions: Infinity }
  }

  #count({ happened, attempts, verdict }: CrashRan): void {
    this.#counts.cases++
    this.#counts.attempts += attempts
    for (const what of ['crashes', 'faults', 'timeouts', 'foreign', 'renewals'] as const)
      this.#counts[what] += happened[what]
    for (const window of verdict.windows) this.#windows[window] = (this.#windows[window] ?? 0) + 1
  }
}

/** Without what differs from case to case. */
function kindOf(problem: string): string {
  return problem.split(/[:"]/, 1)[0] ?? ''
}

/** What killed attempts have left on the disk. */
async function removeAttempts(root: string): Promise<void> {
  const workers = join(root, 'workers')
  for (const worker of await readdir(workers)) {
    const attempts = join(workers, worker, 'attempts')
    for (const name of await readdir(attempts).catch(() => []))
      await rm(join(attempts, name), { recursive: true, force: true })
  }
}

function requireWritable({ name, workspace }: TaskDefinition): void {
  if (workspace !== undefined && workspace.readOnly !== true) return
  throw new InvalidError('testing/nothing-to-lose', `try task "${name}": it publishes nothing`, {
    next: 'Give a task whose workspace is not read-only.',
  })
}
