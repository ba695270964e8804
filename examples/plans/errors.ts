// Errors: subscribers that hear of them, a rule for trying again, a task that says what went wrong, a plan that is always released.
import { declareTask, Plan, type PlanRetry } from 'perago/engine'
import { finishAnyway } from './finish.ts'

/** A timeout is tried again at once, a lost connection after five seconds, nothing else. */
export const RETRY: PlanRetry = {
  attempts: 2,
  delayMs: (error) => {
    const text = String(error)
    if (text.includes('timeout')) return 0
    return text.includes('connection') ? 5000 : undefined
  },
}

export interface Outside {
  /** Rows of a database, messages to people, lines of a log. */
  readonly database: string[]
  readonly messages: string[]
  readonly log: string[]
}

/** `fails`: what the first try of `risky-task` throws. */
export async function RobustDataProcessing(fails: string, calls: string[]): Promise<Outside> {
  const outside: Outside = { database: [], messages: [], log: [] }
  const plan = new Plan('robust-processing')
  plan.Subscribe('TaskError', (plan_id: string, _event: string, data: { task_id: string; error: Error }) => {
    outside.messages.push(`${plan_id}: ${data.task_id} failed: ${data.error.message}`)
  })
  plan.Subscribe('TaskCompleted', (_plan_id: string, event: string, data: { task_id: string }) => {
    outside.database.push(data.task_id)
    outside.log.push(`${event} ${data.task_id}`)
  })
  const risky = (_plan_id: string, task_id: string): void => {
    calls.push(task_id)
    if (calls.length === 1) throw new Error(fails)
  }
  plan.Add('risky-task', 1, declareTask(risky, { retry: RETRY }))
  plan.Add('next-task', 2, () => 1)
  await finishAnyway(plan, () => undefined)
  return outside
}

/** Checks for what it needs, and leaves a note before it passes an error on. */
export function robustTask(_plan_id: string, task_id: string, plan: Plan): number {
  try {
    if (!plan.Has('required')) throw new Error('the required data is missing')
    return (plan.Get('required') as number) * 2
  } catch (error) {
    plan.Set('error', { task_id, error: (error as Error).message, timestamp: Date.now() })
    throw error
  }
}

export function RunRobustTask(required?: number): Promise<{ result: unknown; error: unknown }> {
  const plan = new Plan('robust-task')
  if (required !== undefined) plan.Set('required', required)
  plan.Add('robust', 1, robustTask, plan)
  return finishAnyway(plan, () => plan.Get('error', plan.TaskData('robust')))
}

/** Clears and releases, however the run ends. */
export async function cleanupPlan(task: () => unknown): Promise<void> {
  const plan = new Plan('cleanup')
  try {
    plan.Add('task', 1, task)
    await plan.Run()
  } finally {
    plan.Clear()
    plan.Release()
  }
}
