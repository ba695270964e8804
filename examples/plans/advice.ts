// Good habits, and the three bad ones that `lintPlan` finds, each with its corrected twin.
import { declareTask, lintPlan, Plan, type PlanFindingRule } from 'perago/engine'
import { dataOf, finish } from './finish.ts'

interface User {
  readonly id: number
  readonly name: string
}

const USERS: readonly User[] = Array.from({ length: 20 }, (_, id) => ({ id, name: `user ${id}` }))

/** Reads what it needs once, in one value. */
export function optimized_reading(_plan_id: string, _task_id: string, plan: Plan): number {
  const { metadata, config } = plan.Get('inputs') as {
    metadata: { rows: number }
    config: { factor: number }
  }
  return metadata.rows * config.factor
}

/** Builds the index once, keeps it, and looks up by id. */
export function optimized_structure(_plan_id: string, _task_id: string, plan: Plan): string | undefined {
  const index = plan.Update<Map<number, User>>(
    'user_index',
    (known) => known ?? new Map((plan.Get('users') as readonly User[]).map((user) => [user.id, user])),
  )
  return index.get(7)?.name
}

/** Removes the large value as soon as possible, and keeps the small one. */
export function memory_optimized(_plan_id: string, _task_id: string, plan: Plan): number {
  plan.Set(
    'temp_big_data',
    Array.from({ length: 10_000 }, (_, index) => index),
  )
  const result = (plan.Get('temp_big_data') as number[]).length
  plan.Delete('temp_big_data')
  plan.Set('processing_result', result)
  return result
}

export function GoodHabits(): Promise<Record<string, unknown>> {
  const plan = new Plan('good-habits')
  plan.Set('inputs', { metadata: { rows: 21 }, config: { factor: 2 } })
  plan.Set('users', USERS)
  plan.Add('reading', 1, optimized_reading, plan)
  plan.Add('structure', 1, optimized_structure, plan)
  plan.Add('memory', 1, memory_optimized, plan)
  return finish(plan, () => ({
    ...dataOf(plan),
    hasIndex: plan.Has('user_index'),
    hasBigData: plan.Has('temp_big_data'),
    processing_result: plan.Get('processing_result'),
  }))
}

type Rules = readonly PlanFindingRule[]

function rulesOf(plan: Plan): Rules {
  return lintPlan(plan, { maxKeys: 30 }).map(({ rule }) => rule)
}

/** A task needs what another one of its order sets. `corrected`: it is in a later order. */
export function AntiPattern_StrongDependency(corrected = false): Rules {
  const plan = new Plan('strong-dependency')
  plan.Add(
    'produce',
    1,
    declareTask(() => plan.Set('result', 1), { produces: ['result'] }),
  )
  plan.Add(
    'consume',
    corrected ? 2 : 1,
    declareTask(() => plan.Get('result'), { needs: ['result'] }),
  )
  const rules = rulesOf(plan)
  plan.Release()
  return rules
}

export function process_scattered(_plan_id: string, _task_id: string, plan: Plan): void {
  for (const user of USERS) {
    plan.Set(`user_${user.id}_id`, user.id)
    plan.Set(`user_${user.id}_name`, user.name)
  }
}

/** A key for every field of every user. `corrected`: one list. */
export function AntiPattern_ScatteredData(corrected = false): Promise<Rules> {
  const plan = new Plan('scattered-data')
  plan.Add('store', 1, corrected ? () => plan.Set('users', USERS) : process_scattered, plan)
  return finish(plan, () => rulesOf(plan).filter((rule) => rule !== 'not-released'))
}

export function process_no_cleanup(_plan_id: string, _task_id: string, plan: Plan): void {
  plan.Set(
    'temp_big_data',
    Array.from({ length: 10_000 }, (_, index) => index),
  )
}

/** The plan is not released. `corrected`: it is. */
export async function AntiPattern_NoCleanup(corrected = false): Promise<Rules> {
  const plan = new Plan('no-cleanup')
  plan.Add('fill', 1, process_no_cleanup, plan)
  await plan.Run()
  if (corrected) plan.Release()
  return rulesOf(plan)
}
