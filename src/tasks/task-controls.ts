/**
 * Retry, timeout and limit settings of a task, and the time its publication may take. The defaults suit a publish worker on
 * Conductor 3.32.3 and differ from the server's: there, a timeout of a task type that is not defined ends the workflow, and
 * a lease lasts an hour.
 */

import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import { unknownKey } from './known-keys.ts'

export const ON_RETRY = ['replace', 'adopt'] as const
/** `adopt`: completes with the result that was recorded with it, and does not run the body. */
export type OnRetry = (typeof ON_RETRY)[number]

/** The time of a publication in the worst case; the lease must be longer than the sum. */
export interface PublishBudget {
  /** Observed high-percentile time of a publication on the real lakeFS. */
  readonly publishSeconds: number
  /** Reserve for reporting the result to the task queue. */
  readonly completionSeconds: number
  readonly heartbeatSeconds: number
  readonly shutdownGraceSeconds: number
  /** The total; at least the sum of the parts, which is the default. */
  readonly totalSeconds: number
}

export interface TaskControls {
  /** Attempts after a failure. Unless given: 3, the first after 5 s, each delay doubled up to 120 s, plus up to 2 s at random. */
  readonly retry: {
    readonly count: number
    readonly logic: 'FIXED' | 'EXPONENTIAL_BACKOFF' | 'LINEAR_BACKOFF'
    readonly delaySeconds: number
    readonly maxDelaySeconds: number
    readonly jitterMs: number
  }
  /** Time limits in seconds, and what follows one. Unless given: a lease of 60 s, no other limit, and a retry. */
  readonly timeout: {
    readonly policy: 'RETRY' | 'TIME_OUT_WF' | 'ALERT_ONLY'
    /** From the first poll to the end; 0: none. */
    readonly runSeconds: number
    /** The lease: how long the server waits for a renewal. */
    readonly responseSeconds: number
    /** From the first scheduling, for all attempts together; 0: none. */
    readonly totalSeconds: number
    /** How long a task may wait for a worker; 0: for ever. Each timeout uses up a retry. */
    readonly pollSeconds: number
  }
  /** How many run at the same time, and how many start in a period; none of these limits unless given. */
  readonly limits: {
    /** How many a worker runs in parallel. Default: as many as it has slots. */
    readonly perWorker: number | undefined
    /** How many run in parallel on all workers; enforced by the task queue. */
    readonly concurrent: number | undefined
    readonly rate: { readonly count: number; readonly perSeconds: number } | undefined
  }
  /** Seconds that a publication may need; 50 in all unless given. Must be less than `timeout.responseSeconds`. */
  readonly publishBudget: PublishBudget
  /** What may be replaced if the branch is one commit ahead of the input. */
  readonly replace: 'any' | 'own'
  /** What a retry does with a publication of its own task that it finds; `undefined`: as `ledger.onRetry` says. */
  readonly onRetry: OnRetry | undefined
  /** Whether work continues while its workflow is paused; Conductor does not stop running tasks. */
  readonly whilePaused: 'stop' | 'go-on'
  /** What becomes of a task that is given parameters that its schema does not know. */
  readonly unknownParams: 'tell' | 'refuse' | 'ignore'
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
    onRetry: z.enum(ON_RETRY).optional(),
    whilePaused: z.enum(['stop', 'go-on']).default('go-on'),
    unknownParams: z.enum(['tell', 'refuse', 'ignore']).default('tell'),
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

/** The controls of a task that declares none. */
export const DEFAULT_CONTROLS: TaskControls = readControls({}, '(defaults)')

/** Checks declared controls and adds defaults. The error lists all problems. */
export function readControls(input: TaskControlsInput, task: string): TaskControls {
  const read = controlsSchema.safeParse(input)
  if (read.success) {
    const { perWorker, concurrent, rate } = read.data.limits
    const { onRetry } = read.data
    return { ...read.data, onRetry, limits: { perWorker, concurrent, rate } }
  }
  const problems = read.error.issues.flatMap((issue) => {
    const at = issue.path.map(String).join('.')
    if (issue.code !== 'unrecognized_keys') return [`${at}: ${issue.message}`]
    return issue.keys.map((key) => unknownKey(key, keysAt(issue.path), at))
  })
  throw new InvalidError('worker/invalid-controls', `declare task "${task}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

/**
 * The problems of a budget, compared with the response timeout in force (the server's, where the task is registered): a lease
 * that ends during a publication gives the task to another worker.
 */
export function judgeBudget(budget: PublishBudget, responseSeconds: number): readonly string[] {
  const needed = sumOfBudget(budget)
  const problems: string[] = []
  if (budget.totalSeconds < needed)
    problems.push(`totalSeconds is ${budget.totalSeconds}, less than the sum of its parts, ${needed} s`)
  if (needed >= responseSeconds)
    problems.push(
      `the sum of its parts is ${needed} s, which must be less than the response timeout of ${responseSeconds} s`,
    )
  return problems
}

function keysAt(path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = DEFAULT_CONTROLS
  for (const part of path) at = (Object(at) as Readonly<Record<PropertyKey, unknown>>)[part]
  return Object.keys(Object(at) as object)
}

function sumOfBudget(budget: Omit<PublishBudget, 'totalSeconds'>): number {
  return (
    budget.publishSeconds + budget.completionSeconds + budget.heartbeatSeconds + budget.shutdownGraceSeconds
  )
}
