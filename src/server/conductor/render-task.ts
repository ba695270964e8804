/** Tasks and workflows as Conductor writes them: absent fields are left out, times that are not set are 0. */

import { defined } from '../../base/defined.ts'
import type { WorkflowView } from '../../engine/protocol/control.ts'
import { isWorkflowOpen } from '../../engine/protocol/state.ts'
import type { OpenWorkflow, TaskRecord } from '../../worker/ports.ts'

export function renderTask(record: TaskRecord): object {
  const { workflowId, scheduledTimeMs, startTimeMs, updateTimeMs, isRetried, workerId } = record
  return {
    taskId: record.taskId,
    workflowInstanceId: workflowId,
    workflowType: record.workflowType,
    status: record.status,
    taskType: record.taskType,
    taskDefName: record.taskDefName,
    referenceTaskName: record.referenceTaskName,
    retryCount: record.retryCount,
    pollCount: record.pollCount,
    seq: record.seq,
    iteration: record.iteration,
    scheduledTime: scheduledTimeMs,
    startTime: startTimeMs,
    updateTime: updateTimeMs,
    responseTimeoutSeconds: record.responseTimeoutSeconds,
    retried: isRetried,
    inputData: record.input,
    outputData: record.output,
    ...(workerId === '' ? {} : { workerId }),
    ...defined({
      correlationId: record.correlationId,
      domain: record.domain,
      reasonForIncompletion: record.reasonForIncompletion,
      externalInputPayloadStoragePath: record.externalInputPath,
      externalOutputPayloadStoragePath: record.externalOutputPath,
      // Not Conductor's; clients that do not know it leave it alone.
      traceparent: record.traceparent,
    }),
  }
}

export function renderWorkflow(view: WorkflowView, hasTasks: boolean): object {
  const { workflowId, name, version, status, input, output, startTimeMs, updateTimeMs } = view
  const { correlationId, reasonForIncompletion, parentId } = view
  return {
    ...{ workflowId, status, input, output },
    ...{ workflowName: name, workflowType: name, workflowVersion: version },
    ...{ startTime: startTimeMs, updateTime: updateTimeMs },
    endTime: isWorkflowOpen(status) ? 0 : updateTimeMs,
    ...defined({ correlationId, reasonForIncompletion, parentWorkflowId: parentId }),
    variables: {},
    tasks: hasTasks ? view.tasks.map(renderTask) : [],
  }
}

export function renderOpenWorkflow(open: OpenWorkflow): object {
  const { workflowId, name, status, parentId, startTimeMs, input, steps } = open
  return {
    workflowId,
    workflowName: name,
    startTime: startTimeMs,
    input,
    workflowDefinition: { name, tasks: steps },
    ...defined({ status, parentWorkflowId: parentId }),
  }
}
