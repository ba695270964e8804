// Orders that produce, consume and aggregate: what a task needs was set by an earlier order.
import { createHash } from 'node:crypto'
import { Plan, time } from 'perago/engine'
import { dataOf, finish } from './finish.ts'

type Data = Record<string, unknown>

interface RawUser {
  readonly id: number
  readonly name: string
  readonly email: string
}

export const SAMPLE_USERS: readonly RawUser[] = [
  { id: 1, name: ' Ada ', email: 'ADA@Example.org' },
  { id: 2, name: 'Ben', email: 'no address' },
  { id: 3, name: 'Cem', email: 'cem@example.org' },
]

interface Listed<T> {
  readonly data: readonly T[]
  readonly count: number
}

function read<T>(plan: Plan, key: string): Listed<T> {
  return plan.Get(key) as Listed<T>
}

export function data_extract_users(plan_id: string, _task_id: string, source: string): number {
  const data = SAMPLE_USERS
  new Plan(plan_id).Set('raw_users', { data, count: data.length, source, extracted_at: Date.now() })
  return data.length
}

export function data_clean_users(_plan_id: string, _task_id: string, plan: Plan): number {
  const raw = read<RawUser>(plan, 'raw_users')
  const data = raw.data
    .filter(({ email }) => /^[^@\s]+@[^@\s]+$/.test(email))
    .map((user) => ({ ...user, name: user.name.trim(), email: user.email.toLowerCase() }))
  plan.Set('clean_users', { data, count: data.length, original_count: raw.count, cleaned_at: Date.now() })
  return data.length
}

export function data_transform_users(_plan_id: string, _task_id: string, plan: Plan): number {
  const data = read<RawUser>(plan, 'clean_users').data.map(({ id, name, email }) => ({
    user_id: id,
    display_name: name,
    email_hash: createHash('sha256').update(email).digest('hex'),
    registration_date: '2026-01-01',
    status: 'active',
    transformed_at: Date.now(),
  }))
  plan.Set('transformed_users', { data, count: data.length })
  return data.length
}

export function data_aggregate_load(_plan_id: string, _task_id: string, plan: Plan): object {
  const count = (key: string, field = 'count'): number =>
    (plan.Get(key, {}) as Record<string, number | undefined>)[field] ?? 0
  const users = {
    original_count: count('clean_users', 'original_count'),
    cleaned_count: count('clean_users'),
    final_count: count('transformed_users'),
    processed_at: Date.now(),
  }
  const orders = { final_count: count('transformed_orders') }
  const total = users.final_count + orders.final_count
  const summary = { users, orders, pipeline: { total_processed: total, processing_time: 0 } }
  plan.Set('final_summary', summary)
  plan.Set('pipeline_complete', true)
  return summary
}

/** Hands a list of orders from one key to the next. */
function passOrders(plan: Plan, from: string | undefined, to: string): () => number {
  return () => {
    const data = from === undefined ? [{ order: 1 }, { order: 2 }] : read<object>(plan, from).data
    plan.Set(to, { data, count: data.length })
    return data.length
  }
}

export function PipelineDifferentOrders(): Promise<Data> {
  const plan = new Plan('pipeline')
  plan.Add('extract-users', 1, data_extract_users, 'users_db')
  plan.Add('extract-orders', 1, passOrders(plan, undefined, 'raw_orders'))
  plan.Add('clean-users', 2, data_clean_users, plan)
  plan.Add('clean-orders', 2, passOrders(plan, 'raw_orders', 'clean_orders'))
  plan.Add('transform-users', 3, data_transform_users, plan)
  plan.Add('transform-orders', 3, passOrders(plan, 'clean_orders', 'transformed_orders'))
  plan.Add('aggregate-and-load', 4, data_aggregate_load, plan)
  const keys = ['raw_users', 'clean_users', 'transformed_users', 'final_summary', 'pipeline_complete']
  return finish(plan, () => ({
    ...dataOf(plan),
    ...Object.fromEntries(keys.map((key) => [key, plan.Get(key)])),
  }))
}

/** Users, orders and products are extracted; users and orders are transformed and loaded. */
export function ETL_Pipeline(): Promise<{ data: Data; received: Record<string, unknown[]> }> {
  const plan = new Plan('etl-pipeline')
  const received: Record<string, unknown[]> = {}
  const extract = (_: string, task_id: string, source: string): void => {
    received[task_id] = [source]
    plan.Set(`raw_${task_id}`, [source, 1, 2])
  }
  const transform = (_: string, task_id: string, given: Plan): void => {
    received[task_id] = [given]
    const raw = given.Get(`raw_${task_id.replace('transform', 'extract')}`) as unknown[]
    given.Set(task_id, raw.slice(1))
  }
  const load = (_: string, task_id: string, given: Plan): unknown => {
    received[task_id] = [given]
    return given.Get(task_id.replace('load', 'transform'))
  }
  plan.Add('extract-users', 1, extract, 'db1')
  plan.Add('extract-orders', 1, extract, 'db2')
  plan.Add('extract-products', 1, extract, 'api')
  for (const what of ['users', 'orders']) {
    plan.Add(`transform-${what}`, 2, transform, plan)
    plan.Add(`load-${what}`, 3, load, plan)
  }
  return finish(plan, () => ({ data: dataOf(plan), received }))
}

/** Three collections at once, two kinds of processing, one report. */
export function WorkflowExample(): Promise<Data> {
  const plan = new Plan('workflow-example')
  for (const [index, what] of ['user', 'product', 'order'].entries())
    plan.Add(`collect-${what}-data`, 1, () =>
      plan.Set(
        what,
        Array.from({ length: index + 1 }, () => what),
      ),
    )
  for (const what of ['user', 'product'])
    plan.Add(`process-${what}s`, 2, () => plan.Set(`${what}_count`, (plan.Get(what) as string[]).length))
  plan.Add('generate-report', 3, () => ({
    users: plan.Get('user_count'),
    products: plan.Get('product_count'),
    orders: (plan.Get('order') as string[]).length,
  }))
  return finish(plan, () => dataOf(plan))
}

// Both kinds of order in one plan.

function collect(kind: 'api' | 'file', steps: number, ms: number) {
  return async (_plan_id: string, _task_id: string, plan: Plan): Promise<number> => {
    const items: string[] = []
    for (let step = 0; step < steps; step++) {
      await time.Sleep(ms)
      items.push(`${kind}-${step}`)
      plan.Set(`${kind}_progress`, {
        status: 'collecting',
        items_collected: items.length,
        timestamp: Date.now(),
      })
    }
    plan.Set(`${kind}_data`, items)
    plan.Set(`${kind}_complete`, true)
    return items.length
  }
}

export const collect_api = collect('api', 5, 50)
export const collect_file = collect('file', 3, 80)

export async function monitor_progress(_plan_id: string, _task_id: string, plan: Plan): Promise<object> {
  for (;;) {
    const isOver = plan.Get('api_complete', false) === true && plan.Get('file_complete', false) === true
    const collected = (kind: string): number =>
      (plan.Get(`${kind}_progress`, { items_collected: 0 }) as { items_collected: number }).items_collected
    const progress = {
      api_collected: collected('api'),
      file_collected: collected('file'),
      total_collected: collected('api') + collected('file'),
      collection_complete: isOver,
      timestamp: Date.now(),
    }
    plan.Set('collection_progress', progress)
    if (isOver) return progress
    await time.Sleep(100)
  }
}

export function MixedModeExample(monitorFirst = false): Promise<Data> {
  const plan = new Plan('mixed-mode')
  if (monitorFirst) plan.Add('monitor-progress', 1, monitor_progress, plan)
  plan.Add('collect-api', 1, collect_api, plan)
  plan.Add('collect-file', 1, collect_file, plan)
  if (!monitorFirst) plan.Add('monitor-progress', 1, monitor_progress, plan)
  const all = (): string[] => [...(plan.Get('api_data') as string[]), ...(plan.Get('file_data') as string[])]
  plan.Add('validate-data', 2, () => plan.Set('valid', all()))
  for (const what of ['users', 'products'])
    plan.Add(`process-${what}`, 3, () => plan.Set(what, (plan.Get('valid') as string[]).length))
  plan.Add('merge-results', 4, () => (plan.Get('users') as number) + (plan.Get('products') as number))
  const keys = ['api', 'file'].flatMap((kind) =>
    ['progress', 'data', 'complete'].map((part) => `${kind}_${part}`),
  )
  return finish(plan, () => ({ ...dataOf(plan), keys: keys.filter((key) => plan.Has(key)) }))
}

// Data that is removed as soon as nobody needs it.

export function data_create(_plan_id: string, task_id: string, plan: Plan): number {
  const created_at = Date.now()
  plan.Set('work_data', { data: [1, 2, 3], created_at, status: 'active' })
  plan.Set('data_metadata', { owner: task_id, created_at, cleanup_order: 2 })
  return 3
}

export function data_use_cleanup(_plan_id: string, _task_id: string, plan: Plan): number {
  const { data } = plan.Get('work_data') as { data: number[] }
  const result = data.reduce((sum, value) => sum + value, 0)
  plan.Set('processing_result', result)
  plan.Delete('work_data')
  return result
}

export function cleanup_final(_plan_id: string, _task_id: string, plan: Plan): string {
  plan.Delete('data_metadata')
  return 'cleanup_done'
}

export function DataLifecycleExample(): Promise<{ data: Data; keys: string[][] }> {
  const plan = new Plan('data-lifecycle')
  const keys: string[][] = []
  const names = ['work_data', 'data_metadata', 'processing_result']
  plan.Subscribe('TaskCompleted', () => keys.push(names.filter((name) => plan.Has(name))))
  plan.Add('create-data', 1, data_create, plan)
  plan.Add('use-data', 2, data_use_cleanup, plan)
  plan.Add('final-cleanup', 3, cleanup_final, plan)
  return finish(plan, () => ({ data: dataOf(plan), keys }))
}
