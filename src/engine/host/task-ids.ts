/** Ids of tasks: UUIDs whose first digits tell their execution, so that a task is found without an index of all tasks. */

import { randomBytes } from 'node:crypto'
import type { TaskId } from '../../fences/attempt-snapshot.ts'

/** `digits` are those of the execution, see `taskDigits`. */
export function makeTaskId(digits: string): TaskId {
  const random = randomBytes(8).toString('hex')
  const [a, b, c] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 15)]
  // Version 4 and variant 8: as a random UUID.
  return `${a}-${b}-4${c}-8${random.slice(0, 3)}-${random.slice(3, 15)}` as TaskId
}

export function digitsOfTask(taskId: string): string | undefined {
  const [, a, b, c] =
    /^([0-9a-f]{8})-([0-9a-f]{4})-4([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}$/.exec(taskId) ?? []
  return a === undefined || b === undefined || c === undefined ? undefined : a + b + c
}
