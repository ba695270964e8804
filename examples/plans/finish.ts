import type { Plan } from 'perago/engine'

/** Runs the plan, reads what it left, and releases it in any case. */
export async function finish<T>(plan: Plan, read: () => T): Promise<T> {
  try {
    await plan.Run()
    return read()
  } finally {
    plan.Release()
  }
}

/** The same for a plan that may fail: gives the error back beside what the plan left. */
export async function finishAnyway<T>(plan: Plan, read: () => T): Promise<{ result: T; error: unknown }> {
  try {
    const error: unknown = await plan.Run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { result: read(), error }
  } finally {
    plan.Release()
  }
}

/** The data of every task. */
export function dataOf(plan: Plan): Record<string, unknown> {
  return Object.fromEntries(Object.keys(plan.Status().tasks).map((id) => [id, plan.TaskData(id)]))
}
