/**
 * Retry, timeout and limit settings of a task, and the time its publication may take. The defaults are those a
 * publish worker needs on Conductor 3.32.3, which differ from the server's own: there, a task type nobody defined
 * ends its whole workflow on a timeout and may keep its lease for an hour.
 */

import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'

/** What a publication needs in the worst case; the lease must be longer than the sum. */
export interface PublishBudget {
  /** Observed high-percentile time of a publication on the real lakeFS. */
  readonly publishSeconds: number
  /** Reserve for telling the task queue the result. */
  readonly completionSeconds: number
  readonly heartbeatSeconds: number
  readonly shutdownGraceSeconds: number
  /** What all of it may take together; the sum of the parts unless given, and never less. */
  readonly totalSeconds: number
}

export interface TaskControls {
  readonly retry: {
    readonly count: number
    readonly logic: 'FIXED' | 'EXPONENTIAL_BACKOFF' | 'LINEAR_BACKOFF'
    readonly delaySeconds: number
    readonly maxDelaySeconds: number
    readonly jitterMs: number
  }
  readonly timeout: {
    readonly policy: 'RETRY' | 'TIME_OUT_WF' | 'ALERT_ONLY'
    /** From the first poll to the end; 0: none. */
    readonly runSeconds: number
    /** The lease: how long the server waits for a sign of life. */
    readonly responseSeconds: number
    /** From the first scheduling over all attempts; 0: none. */
    readonly totalSeconds: number
    /** How long a task may wait for a worker; 0: for ever. A missed poll burns a retry. */
    readonly pollSeconds: number
  }
  readonly limits: {
    /** How many of it one worker runs at the same time; as many as it has places unless given. */
    readonly perWorker: number | undefined
    /** How many of it run anywhere at the same time; kept by the task queue. */
    readonly concurrent: number | undefined
    readonly rate: { readonly count: number; readonly perSeconds: number } | undefined
  }
  readonly publishBudget: PublishBudget
  /** What may be replaced when the branch stands one commit above the input. */
  readonly replace: 'any' | 'own'
  /** Whether work may go on while its workflow is paused; pausing a workflow on Conductor leaves running tasks alone. */
  readonly whilePaused: 'stop' | 'go-on'
}

const seconds = z.int().min(0)

const controlsSchema = z
  .strictObject({
    retry: z
      .strictObject({
        count: z.int().min(0).max(10).default(3),
        logic: z.enum(['FIXED', 'EXPONENTIAL_BACKOFF', 'LINEAR_BACKOFF']).default('EXPONENTIAL_BACKOFF'),
        delaySeconds: seconds.default(5),
        maxDelaySeconds: seconds.default(120),
        jitterMs: z.int().min(0).default(2_000),
      })
      .prefault({}),
    timeout: z
      .strictObject({
        policy: z.enum(['RETRY', 'TIME_OUT_WF', 'ALERT_ONLY']).default('RETRY'),
        runSeconds: seconds.default(0),
        responseSeconds: z.int().min(1).default(60),
        totalSeconds: seconds.default(0),
        pollSeconds: seconds.default(0),
      })
      .prefault({}),
    limits: z
      .strictObject({
        perWorker: z.int().min(1).optional(),
        concurrent: z.int().min(1).optional(),
        rate: z.strictObject({ count: z.int().min(1), perSeconds: z.int().min(1) }).optional(),
      })
      .prefault({}),
    publishBudget: z
      .strictObject({
        publishSeconds: z.number().positive().default(20),
        completionSeconds: z.number().positive().default(5),
        heartbeatSeconds: z.number().positive().default(20),
        shutdownGraceSeconds: z.number().min(0).default(5),
        totalSeconds: z.number().positive().optional(),
      })
      .prefault({})
      .transform((budget) => ({ ...budget, totalSeconds: budget.totalSeconds ?? sumOfBudget(budget) })),
    replace: z.enum(['any', 'own']).default('any'),
    whilePaused: z.enum(['stop', 'go-on']).default('go-on'),
  })
  .superRefine((controls, context) => {
    const { runSeconds, responseSeconds } = controls.timeout
    if (runSeconds > 0 && runSeconds < responseSeconds) {
      context.addIssue({
        code: 'custom',
        path: ['timeout', 'runSeconds'],
        message: `${runSeconds} is below responseSeconds (${responseSeconds}); the server refuses that`,
      })
    }
    for (const message of judgeBudget(controls.publishBudget, responseSeconds))
      context.addIssue({ code: 'custom', path: ['publishBudget'], message })
  })

export type TaskControlsInput = z.input<typeof controlsSchema>

/** What a task has that says nothing of retries, timeouts and limits. */
export const DEFAULT_CONTROLS: TaskControls = readControls({}, '(defaults)')

/** Checks what an author declared and fills in the rest; every problem is named at once. */
export function readControls(input: TaskControlsInput, task: string): TaskControls {
  const read = controlsSchema.safeParse(input)
  if (read.success) {
    const { perWorker, concurrent, rate } = read.data.limits
    return { ...read.data, limits: { perWorker, concurrent, rate } }
  }
  const problems = read.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`)
  throw new InvalidError('worker/invalid-controls', `declare task "${task}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

/**
 * What is wrong with a budget, held against the response timeout that is in force: the server's, where the task is
 * registered, for a lease that ends in the middle of a publication hands the task to somebody else.
 */
export function judgeBudget(budget: PublishBudget, responseSeconds: number): readonly string[] {
  const needed = sumOfBudget(budget)
  const problems: string[] = []
  if (budget.totalSeconds < needed)
    problems.push(`totalSeconds is ${budget.totalSeconds}, less than the ${needed} s its parts add up to`)
  if (needed >= responseSeconds)
    problems.push(
      `its parts add up to ${needed} s, which must be less than the response timeout of ${responseSeconds} s`,
    )
  return problems
}

function sumOfBudget(budget: Omit<PublishBudget, 'totalSeconds'>): number {
  return (
    budget.publishSeconds + budget.completionSeconds + budget.heartbeatSeconds + budget.shutdownGraceSeconds
  )
}
