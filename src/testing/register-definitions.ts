/** Definitions of declared tasks and workflows, as a queue or an engine in this process takes them. */

import type { JsonObject } from '../base/json.ts'
import type { TestTaskDef, TestWorkflowDef } from '../engine/protocol/definitions.ts'
import { buildTaskDef } from '../tasks/build-taskdef.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { WorkflowDefinition } from '../tasks/workflow-definition.ts'

export function taskDefOf(task: TaskDefinition): TestTaskDef {
  const def = buildTaskDef(task)
  const { controls } = task
  return {
    name: def.name,
    retryCount: def.retryCount,
    retryLogic: controls.retry.logic,
    retryDelaySeconds: def.retryDelaySeconds,
    maxRetryDelaySeconds: def.maxRetryDelaySeconds,
    responseTimeoutSeconds: def.responseTimeoutSeconds,
    timeoutSeconds: def.timeoutSeconds,
    timeoutPolicy: controls.timeout.policy,
  }
}

export function workflowDefOf({ document }: WorkflowDefinition): TestWorkflowDef {
  const { name, version, tasks, outputParameters, timeoutSeconds, timeoutPolicy } = document
  return {
    ...{ name, version, timeoutSeconds, timeoutPolicy },
    // What runs it refuses any step that it does not support.
    tasks: tasks,
    ...(isEmpty(outputParameters) ? {} : { outputParameters }),
  }
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0
}
