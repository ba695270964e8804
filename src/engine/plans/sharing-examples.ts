/** The small plans that decisions name as their `codeExample`. Each is returned ready to run. */

import { Plan } from './plan.ts'
import type { PlanOptions } from './plan-core.ts'
import type { PlanPlace } from './plan-registry.ts'
import type { SharingDecision } from './decisions.ts'
import { declareTask } from './task-handler.ts'
import { time } from './time.ts'

type Where = PlanOptions & PlanPlace

interface User {
  readonly name: string
  readonly email: string
}

const USERS: readonly User[] = [
  { name: ' Ada ', email: 'ADA@example.org' },
  { name: 'Ben', email: 'no address' },
]

/** Extract, clean, load: each order needs what the one before it has set. */
export function pipelineExample(where: Where = {}): Plan {
  const plan = new Plan('pipeline-example', where)
  addOnce(
    plan,
    'extract',
    1,
    declareTask(() => plan.Set('raw_users', USERS), { produces: ['raw_users'] }),
  )
  addOnce(
    plan,
    'clean',
    2,
    declareTask(cleanUsers(plan), { needs: ['raw_users'], produces: ['clean_users'] }),
  )
  const load = (): number => (plan.Get('clean_users') as readonly User[]).length
  addOnce(plan, 'load', 3, declareTask(load, { needs: ['clean_users'] }))
  return plan
}

function cleanUsers(plan: Plan): () => void {
  return () => {
    const users = plan.Get('raw_users') as readonly User[]
    const clean = users
      .filter(({ email }) => email.includes('@'))
      .map(({ name, email }) => ({ name: name.trim(), email: email.toLowerCase() }))
    plan.Set('clean_users', clean)
  }
}

const BATCHES = 3

/** A collector and a processor in one order: the processor waits for each batch, and gives up after a time. */
export function realtimeCollaborationExample(where: Where = {}): Plan {
  const plan = new Plan('realtime-example', where)
  addOnce(plan, 'collect', 1, async () => {
    for (let batch = 1; batch <= BATCHES; batch++) {
      await time.Sleep(10)
      plan.Set(`batch_${batch}`, batch * 10)
    }
    return BATCHES
  })
  addOnce(plan, 'process', 1, async () => {
    let sum = 0
    for (let batch = 1; batch <= BATCHES; batch++) sum += (await plan.waitFor(`batch_${batch}`)) as number
    plan.Set('sum', sum)
    return sum
  })
  return plan
}

/** Two tasks with data of their own; nothing is shared, the results are read afterwards. */
export function independentDataExample(where: Where = {}): Plan {
  const plan = new Plan('independent-example', where)
  const total = (...values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
  addOnce(plan, 'odd', 1, () => total(1, 3, 5))
  addOnce(plan, 'even', 1, () => total(2, 4, 6))
  return plan
}

/** The plan of the pipeline example, if that is what the decision recommends. */
export function buildETLPlan(
  decision: Pick<SharingDecision, 'recommendation'>,
  where: Where = {},
): Plan | undefined {
  return decision.recommendation === 'CROSS_ORDER_PIPELINE' ? pipelineExample(where) : undefined
}

/** The example may be called again while its plan exists. */
function addOnce(plan: Plan, id: string, order: number, handler: () => unknown): void {
  if (plan.TaskStatus(id) === 'unknown') plan.Add(id, order, handler)
}
