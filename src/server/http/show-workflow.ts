/** Workflows as JSON. */

import { defined } from '../../base/defined.ts'
import type { JsonObject } from '../../base/json.ts'
import { codeOf, type TaskPublication } from '../../runtime/views/task-publication.ts'
import type { WorkflowGraph } from '../../runtime/views/workflow-graph.ts'
import { endOf } from '../../runtime/views/read-task-stories.ts'
import type { ShownTask, WorkflowDetails } from '../../runtime/views/workflow-view.ts'
import { targetOf } from '../../runtime/views/list-workflows.ts'
import type { FoundWorkflow } from '../../runtime/workflows.ts'

type Summary = Omit<FoundWorkflow, 'input'> & { readonly input?: JsonObject | undefined }

export function showWorkflow(workflow: Summary) {
  const { workflowId: id, name, version, status, startTimeMs, endTimeMs, correlationId } = workflow
  const target = targetOf(workflow)
  return {
    ...{ id, name, status },
    ...defined({ version, started_at: timeOf(startTimeMs), ended_at: timeOf(endTimeMs) }),
    ...defined({ correlation_id: correlationId, reason: workflow.reasonForIncompletion }),
    ...defined({ repository: target?.repository, branch: target?.branch }),
  }
}

export function showDetails(workflow: WorkflowDetails) {
  const { input, output, parentId, tasks, graph } = workflow
  return {
    ...showWorkflow(workflow),
    ...defined({ parent_id: parentId }),
    ...{ input, output, tasks: tasks.map(showTask), graph: showGraph(graph) },
  }
}

function showTask(task: ShownTask) {
  const { taskId: id, referenceTaskName, node, taskDefName: name, kind, status, input, output } = task
  const { retryCount: retry, iteration, seq, isRetried: retried, workerId, publication, steps } = task
  const reason = task.reasonForIncompletion
  return {
    ...{ id, reference_name: referenceTaskName, node, name, kind, status, retry, iteration, seq, retried },
    ...defined({
      scheduled_at: timeOf(task.scheduledTimeMs),
      started_at: timeOf(task.startTimeMs),
      ended_at: timeOf(endOf(task)),
      worker: workerId === '' ? undefined : workerId,
      ...{ reason, code: codeOf(reason), child_id: task.childId },
      publication: publication && showPublication(publication),
      steps,
    }),
    ...{ input, output },
  }
}

function showPublication({ inputRef, ...publication }: TaskPublication) {
  return { ...publication, input_ref: inputRef }
}

function showGraph({ nodes, edges }: WorkflowGraph) {
  return {
    nodes: nodes.map(({ referenceName, ...node }) => ({ reference_name: referenceName, ...node })),
    edges,
  }
}

/** 0: it is not known, or has not come. */
export function timeOf(ms: number): string | undefined {
  return ms > 0 ? new Date(ms).toISOString() : undefined
}
