/** In which case and which loop each task is. */

import type { WorkflowTask } from './workflow-document.ts'

export interface Scopes {
  /** After "joinOn names NAME, …"; `undefined` where the JOIN can wait for it. */
  whyNotJoined(join: string, name: string): string | undefined
}

interface Scope {
  readonly kind: 'case' | 'loop'
  /** The SWITCH or the DO_WHILE. */
  readonly of: string
  /** Tells cases of one SWITCH apart. */
  readonly id: string
}

export function findScopes(tasks: readonly WorkflowTask[]): Scopes {
  const scopes = new Map<string, readonly Scope[]>()
  place(tasks, [], scopes)
  return {
    whyNotJoined: (join, name) => {
      const [own = [], other] = [scopes.get(join), scopes.get(name)]
      if (other === undefined) return 'which is not one of its tasks'
      const [outer, inner] = own.length < other.length ? [own, other] : [other, own]
      const difference = inner.find(({ id }, index) => id !== outer[index]?.id)
      if (difference === undefined) return undefined
      const where = `which is not in the same ${difference.kind} of "${difference.of}"`
      return difference.kind === 'loop'
        ? `${where}; name the loop itself`
        : `${where}: where it is not chosen, the JOIN would wait for ever; put a NOOP after "${difference.of}" and join that`
    },
  }
}

function place(
  tasks: readonly WorkflowTask[],
  around: readonly Scope[],
  into: Map<string, readonly Scope[]>,
): void {
  for (const task of tasks) {
    const of = task.taskReferenceName
    into.set(of, around)
    if (task.type === 'FORK_JOIN') for (const branch of task.forkTasks) place(branch, around, into)
    if (task.type === 'DO_WHILE')
      place(task.loopOver, [...around, { kind: 'loop', of, id: `loop ${of}` }], into)
    if (task.type === 'SWITCH')
      for (const [name, inside] of [...Object.entries(task.decisionCases), ['', task.defaultCase] as const])
        place(inside, [...around, { kind: 'case', of, id: `case ${JSON.stringify([of, name])}` }], into)
  }
}
