// Three ways for tasks that depend on each other. The third, separate orders, is the one to choose.
import { Plan, time } from 'perago/engine'
import { dataOf, finish } from './finish.ts'

type Data = Record<string, unknown>

// 1. A flag in the shared space, looked at again and again.

export async function task_init(plan_id: string): Promise<string> {
  await time.Sleep(100)
  const plan = new Plan(plan_id)
  plan.Set('config', { factor: 2 })
  plan.Set('init_complete', true)
  return 'init_done'
}

export async function task_dependent(_plan_id: string, _task_id: string, plan: Plan): Promise<number> {
  for (let tries = 0; plan.Get('init_complete', false) !== true; tries++) {
    if (tries === 50) throw new Error('initialization timeout')
    await time.Sleep(20)
  }
  const result = (plan.Get('config') as { factor: number }).factor * 21
  plan.Set('processed_result', result)
  return result
}

export function SynchronizedSameOrder(
  order: readonly ('init' | 'dependent')[] = ['init', 'dependent'],
): Promise<Data> {
  const plan = new Plan('synchronized')
  for (const name of order) plan.Add(`${name}-task`, 1, name === 'init' ? task_init : task_dependent, plan)
  return finish(plan, () => ({ ...dataOf(plan), processed_result: plan.Get('processed_result') }))
}

// 2. An event tells that the data is there.

export async function task_producer(_plan_id: string, _task_id: string, plan: Plan): Promise<number> {
  await time.Sleep(30)
  const data = [1, 2, 3]
  plan.Set('produced_data', data)
  plan.Set('data_ready_event', { type: 'DATA_READY', length: data.length })
  plan.Set('init_complete', true)
  return data.length
}

export async function task_consumer(_plan_id: string, _task_id: string, plan: Plan): Promise<number> {
  await plan.waitFor('init_complete', { interval: 10 })
  const result = (plan.Get('produced_data') as number[]).reduce((sum, value) => sum + value, 0)
  plan.Set('consumed_result', result)
  return result
}

export function EventDrivenSync(): Promise<Data> {
  const plan = new Plan('event-driven')
  let calls = 0
  plan.Subscribe('init_complete', () => (calls += 1))
  plan.Add('producer-task', 1, task_producer, plan)
  plan.Add('consumer-task', 1, task_consumer, plan)
  return finish(plan, () => ({
    ...dataOf(plan),
    consumed_result: plan.Get('consumed_result'),
    event: plan.Get('data_ready_event'),
    calls,
  }))
}

// 3. Recommended: the one that needs the data is in a later order.

export async function task_prepare(_plan_id: string, _task_id: string, plan: Plan): Promise<number> {
  await time.Sleep(10)
  plan.Set('prepared_data', [1, 2, 3])
  plan.Set('data_status', 'ready')
  return 3
}

export function task_process(_plan_id: string, _task_id: string, plan: Plan): number {
  const result = (plan.Get('prepared_data') as number[]).length * 10
  plan.Set('processed_result', result)
  return result
}

export function RecommendedApproach(): Promise<Data> {
  const plan = new Plan('recommended')
  plan.Add('data-preparation', 1, task_prepare, plan)
  plan.Add('data-processing', 2, task_process, plan)
  return finish(plan, () => ({ ...dataOf(plan), processed_result: plan.Get('processed_result') }))
}

// What happens without any of them.

export async function task_writer(_plan_id: string, _task_id: string, plan: Plan): Promise<string> {
  plan.Set('test_key', 'first')
  await time.Sleep(50)
  plan.Set('test_key', 'second')
  return 'writer_completed'
}

export async function task_reader(_plan_id: string, _task_id: string, plan: Plan): Promise<string> {
  const seen: unknown[] = []
  for (let tries = 0; tries < 5; tries++) {
    seen.push(plan.Get('test_key', 'not found'))
    await time.Sleep(20)
  }
  plan.Set('seen', seen)
  return 'reader_completed'
}

export function RaceConditionTest(first: 'writer' | 'reader' = 'writer'): Promise<Data> {
  const plan = new Plan('race-test')
  const tasks = [['writer-task', task_writer] as const, ['reader-task', task_reader] as const]
  for (const [id, task] of first === 'writer' ? tasks : tasks.reverse()) plan.Add(id, 1, task, plan)
  return finish(plan, () => ({ ...dataOf(plan), seen: plan.Get('seen') }))
}
