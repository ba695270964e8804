/** Values of a task as plain JSON, as the task queue takes them. */

import { InvalidError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'

export function toJson(value: unknown, task: TaskDefinition): Json {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as Json
  } catch (error) {
    throw new InvalidError(
      'worker/invalid-result',
      `read the values of task "${task.name}": they cannot be written as JSON`,
      { cause: error, next: 'Use plain JSON values: strings, numbers, booleans, arrays and objects.' },
    )
  }
}
