// One configuration for all, and a state that several workers count in.
import { Plan, time } from 'perago/engine'
import { dataOf, finishAnyway } from './finish.ts'

interface RuntimeState {
  readonly workers_active: number
  readonly total_processed: number
  readonly errors: readonly { readonly worker: string; readonly error: string }[]
}

export const GLOBAL_CONFIG = {
  database_url: 'postgres://localhost/app',
  api_timeout: 30000,
  retry_count: 3,
  batch_size: 100,
  features: { enable_cache: true, enable_logging: false },
}

export function init_config(plan_id: string): string {
  const plan = new Plan(plan_id)
  plan.Set('global_config', GLOBAL_CONFIG)
  plan.Set('config_loaded_at', Date.now())
  plan.Set('runtime_state', { workers_active: 0, total_processed: 0, errors: [] } satisfies RuntimeState)
  return 'config_loaded'
}

/** `Update` and not `Get` and `Set`: between these two, another worker would be lost. */
export async function worker_task(
  _plan_id: string,
  _task_id: string,
  workerId: string,
  plan: Plan,
  fails: boolean,
): Promise<string> {
  const change = (by: (state: RuntimeState) => Partial<RuntimeState>): void => {
    plan.Update<RuntimeState>('runtime_state', (state) => {
      if (state === undefined) throw new Error('the configuration was not loaded')
      return { ...state, ...by(state) }
    })
  }
  change(({ workers_active }) => ({ workers_active: workers_active + 1 }))
  try {
    await time.Sleep(10)
    if (fails) throw new Error('out of memory')
    change(({ total_processed }) => ({ total_processed: total_processed + 1 }))
    return `${workerId} done`
  } catch (error) {
    change(({ errors }) => ({ errors: [...errors, { worker: workerId, error: (error as Error).message }] }))
    throw error
  } finally {
    change(({ workers_active }) => ({ workers_active: workers_active - 1 }))
  }
}

export interface ConfigSharingResult {
  readonly data: Record<string, unknown>
  readonly config: unknown
  readonly state: unknown
  readonly status: string
  readonly loadedAt: unknown
}

export function ConfigSharing(failing?: string): Promise<{ result: ConfigSharingResult; error: unknown }> {
  const plan = new Plan('config-sharing')
  plan.Add('load-config', 1, init_config)
  for (const worker of ['worker1', 'worker2', 'worker3'])
    plan.Add(worker, 2, worker_task, worker, plan, worker === failing)
  return finishAnyway(plan, () => ({
    data: dataOf(plan),
    config: plan.Get('global_config'),
    state: plan.Get('runtime_state'),
    loadedAt: plan.Get('config_loaded_at'),
    status: plan.Status().plan,
  }))
}
