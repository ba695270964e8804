/** A plan as a graph: every order is a phase, and a barrier stands between two of them. Pure. */

import type { Graph, Unit } from '../graph/graph.ts'

/** The task type of every task of a plan; its definition holds the limit of tasks at the same time. */
export const PLAN_TASK = 'plan.task'
const BARRIER = 'barrier:'

export interface OrderedTask {
  readonly id: string
  readonly order: number
}

/**
 * Orders without tasks have no unit, so they cost nothing. Compiled again when a task is added or removed: what has run keeps
 * its names, and the barriers of later orders wait for the new task.
 */
export function graphOfPlan(name: string, tasks: readonly OrderedTask[]): Graph {
  return {
    name,
    version: 1,
    units: unitsOf(tasks),
    inputTemplate: {},
    outputParameters: {},
    restartable: false,
    timeoutSeconds: 0,
    timeoutPolicy: 'ALERT_ONLY',
  }
}

export function taskReference(id: string): string {
  return `task:${id}`
}

/** The other way: the id of the task behind a reference. */
export function taskIdOf(reference: string): string {
  return reference.slice(taskReference('').length)
}

function barrierReference(order: number): string {
  return `${BARRIER}${order}`
}

/** The order whose barrier this is; `undefined` for a task. */
export function orderOfBarrier(reference: string): number | undefined {
  return reference.startsWith(BARRIER) ? Number(reference.slice(BARRIER.length)) : undefined
}

function unitsOf(tasks: readonly OrderedTask[]): readonly Unit[] {
  const byOrder = new Map<number, string[]>()
  for (const { id, order } of tasks) {
    const references = byOrder.get(order)
    if (references === undefined) byOrder.set(order, [taskReference(id)])
    else references.push(taskReference(id))
  }
  const orders = [...byOrder].sort(([one], [other]) => one - other)
  return orders.flatMap(([order, references], index) => {
    const before = orders[index - 1]
    const after = before === undefined ? [] : [barrierReference(before[0])]
    const phase = `order ${order}`
    return [
      ...references.map((reference): Unit => ({
        type: 'SIMPLE',
        name: PLAN_TASK,
        taskReferenceName: reference,
        inputParameters: {},
        after,
        phase,
      })),
      {
        type: 'JOIN',
        taskReferenceName: barrierReference(order),
        inputParameters: {},
        after: references,
        phase,
      },
    ]
  })
}
