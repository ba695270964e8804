// Tasks that work at the same time: a producer and a consumer, batches as they come, parts of a sum.
import { Plan, time } from 'perago/engine'
import { dataOf, finish } from './finish.ts'

type Data = Record<string, unknown>

export async function data_producer(plan_id: string, _task_id: string, count: number): Promise<number> {
  const plan = new Plan(plan_id)
  for (let index = 0; index < count; index++) {
    await time.Sleep(10)
    plan.Set(`item_${index}`, { id: index, data: `data-${index}`, timestamp: Date.now() })
    plan.Set('last_produced', index)
    plan.Set('total_produced', index + 1)
  }
  plan.Set('production_complete', true)
  return count
}

export async function data_consumer(_plan_id: string, _task_id: string, plan: Plan): Promise<number> {
  const items: unknown[] = []
  // The end is asked first: what was produced before it is read afterwards, so nothing is lost.
  for (let isOver = false; !isOver;) {
    isOver = plan.Get('production_complete', false) === true
    while (items.length < (plan.Get('total_produced', 0) as number)) {
      items.push(plan.Get(`item_${items.length}`))
      plan.Set('last_consumed', items.length - 1)
    }
    if (!isOver) await time.Sleep(5)
  }
  plan.Set('consumed_items', items)
  plan.Set('consumption_complete', true)
  plan.Set('total_consumed', items.length)
  return items.length
}

export function ProducerConsumerSameOrder(): Promise<Data> {
  const plan = new Plan('producer-consumer')
  plan.Add('producer', 1, data_producer, 10)
  plan.Add('consumer', 1, data_consumer, plan)
  const keys = ['last_produced', 'total_produced', 'production_complete', 'last_consumed', 'total_consumed']
  return finish(plan, () => ({
    ...dataOf(plan),
    ...Object.fromEntries(
      [...keys, 'consumption_complete', 'consumed_items'].map((key) => [key, plan.Get(key)]),
    ),
    items: Array.from({ length: 10 }, (_, index) => plan.Has(`item_${index}`)),
  }))
}

const BATCHES = 10

/** `diesAfter`: ends early, as if its process had died. */
export async function collect_data(
  _plan_id: string,
  _task_id: string,
  plan: Plan,
  diesAfter: number,
): Promise<number> {
  for (let batch = 0; batch < Math.min(BATCHES, diesAfter); batch++) {
    await time.Sleep(100)
    plan.Set(`batch_${batch}`, [batch])
    plan.Set('current_batch', batch)
    plan.Set('total_collected', batch + 1)
    plan.Set('new_data_available', true)
  }
  if (diesAfter >= BATCHES) plan.Set('collection_complete', true)
  return BATCHES
}

export async function process_data(_plan_id: string, _task_id: string, plan: Plan): Promise<string> {
  for (let batch = 0; batch < BATCHES; batch++) {
    // A limit, because a collector that has died would be waited for without end.
    const data = await plan.waitFor(`batch_${batch}`, { timeout: 1000, interval: 50 })
    plan.Set(`processed_${batch}`, data)
    plan.Set('processed_count', batch + 1)
    plan.Set('new_data_available', false)
  }
  return 'processing_completed'
}

export async function monitor_collection(_plan_id: string, _task_id: string, plan: Plan): Promise<unknown> {
  await plan.waitFor('collection_complete', { timeout: 5000, interval: 100 })
  return plan.Get('total_collected')
}

export function RealTimeCollaboration(diesAfter = BATCHES): Promise<Data> {
  const plan = new Plan('real-time-collab')
  plan.Add('data-collector', 1, collect_data, plan, diesAfter)
  plan.Add('data-processor', 1, process_data, plan)
  plan.Add('progress-monitor', 1, monitor_collection, plan)
  return finish(plan, () => ({ ...dataOf(plan), processed_count: plan.Get('processed_count') }))
}

export function ComplexCalculation(): Promise<Data> {
  const plan = new Plan('complex-calc')
  for (const part of [0, 1, 2])
    plan.Add(`part-${part}`, 1, () => {
      const numbers = Array.from({ length: 100 }, (_, index) => part * 100 + index + 1)
      plan.Set(
        `part_${part}`,
        numbers.reduce((sum, value) => sum + value, 0),
      )
    })
  plan.Add('merge-results', 2, () => {
    const total = [0, 1, 2].reduce((sum, part) => sum + (plan.Get(`part_${part}`) as number), 0)
    plan.Set('total', total)
    return total
  })
  plan.Add('post-process', 3, () => (plan.Get('total') as number) / 300)
  return finish(plan, () => dataOf(plan))
}
