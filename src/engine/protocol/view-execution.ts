/** An execution as Conductor's API shows it. */

import type { WorkflowView } from './control.ts'
import type { Execution } from './execution.ts'

export function viewExecution(execution: Execution): WorkflowView {
  const { workflowId, graph, correlationId, parentId, status, startTimeMs, updatedMs, rows } = execution
  const { input, output, reasonForIncompletion } = execution
  return {
    ...{ workflowId, name: graph.name, version: graph.version, correlationId, parentId, status },
    ...{ startTimeMs, updateTimeMs: updatedMs, input, output, reasonForIncompletion },
    tasks: rows.map(({ record }) => record),
  }
}
