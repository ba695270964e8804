// Two orders of two tasks, three subscriptions, and handlers found by their names.
import { handlers, Plan, time } from 'perago/engine'
import { dataOf, finish } from './finish.ts'

const PREFIX = 'scripts.runtime.api.plan'

interface Heard {
  readonly handler: string
  readonly args: readonly unknown[]
  /** Tasks that ran at that moment. */
  readonly running: number
}

export interface MainResult {
  readonly returned: string
  readonly data: Record<string, unknown>
  /** What the subscribers heard until the plan was released. */
  readonly heard: readonly Heard[]
}

let heard: Heard[] = []

export async function Task1(plan_id: string, _task_id: string, foo: string): Promise<number> {
  await time.Sleep(200)
  new Plan(plan_id).Set('some-key', `foo-${foo}`)
  return Date.now()
}

export async function Task2(): Promise<number> {
  await time.Sleep(300)
  return Date.now()
}

export async function Task3(plan_id: string, _task_id: string, foo: string): Promise<object> {
  const plan = new Plan(plan_id)
  const shared = plan.Get('some-key')
  plan.Set('some-key', `bar-${foo}`)
  await time.Sleep(400)
  return { ts: Date.now(), shared }
}

export async function Task4(plan_id: string): Promise<object> {
  await time.Sleep(500)
  return { ts: Date.now(), shared: new Plan(plan_id).Get('some-key') }
}

export function SomeKey(plan_id: string, key: string, data: unknown, foo: string): void {
  const { tasks } = new Plan(plan_id).Status()
  const running = Object.values(tasks).filter((status) => status === 'running').length
  heard.push({ handler: 'SomeKey', args: [plan_id, key, data, foo], running })
}

export function TaskStarted(...args: unknown[]): void {
  heard.push({ handler: 'TaskStarted', args, running: 0 })
}

export function TaskCompleted(...args: unknown[]): void {
  heard.push({ handler: 'TaskCompleted', args, running: 0 })
}

handlers.registerAll(PREFIX, { Task1, Task2, Task3, Task4, SomeKey, TaskStarted, TaskCompleted })

export async function Test(): Promise<MainResult> {
  heard = []
  const plan = new Plan('test-plan')
  plan.Subscribe('TaskStarted', `${PREFIX}.TaskStarted`, 'foo')
  plan.Subscribe('TaskCompleted', `${PREFIX}.TaskCompleted`, 'foo')
  plan.Subscribe('some-key', `${PREFIX}.SomeKey`, 'bar')
  plan.Add('task-1', 1, `${PREFIX}.Task1`, 'foo1')
  plan.Add('task-2', 1, `${PREFIX}.Task2`, 'foo2')
  plan.Add('task-3', 2, `${PREFIX}.Task3`, 'foo3')
  plan.Add('task-4', 2, `${PREFIX}.Task4`, 'foo4')
  return finish(plan, () => ({ returned: 'Done', data: dataOf(plan), heard: [...heard] }))
}
