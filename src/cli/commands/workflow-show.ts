import type { JsonObject } from '../../base/json.ts'
import { oneLine } from '../../base/one-line.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import type { Workflow } from '../../runtime/workflows.ts'
import { answer, renderTable } from '../answers.ts'
import type { ConfiguredOptions } from '../options.ts'
import { describeAttempt, renderAttempts, renderHeading, renderSeconds, timeAs } from '../progress.ts'
import { withRunner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { isOpen, latestAttempts, openTreeReader, workflowsOf } from '../workflow-tree.ts'

/** Shows one, also after its end, with the workflows that it runs. */
export async function showWorkflow(
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  const tree = await withRunner(options, terminal, (workflows) => openTreeReader(workflows, id)())
  const children = workflowsOf(tree).slice(1)
  const document = {
    ...describeWorkflow(tree.workflow),
    ...(children.length === 0 ? {} : { children: children.map(describeWorkflow) }),
  }
  answer(terminal, options, document, () => {
    const nowMs = Date.now()
    return [
      `${renderHeading(tree.workflow)}\n`,
      renderAttempts(tree, nowMs),
      renderTable(factsOf(tree.workflow, nowMs)),
      ...children.map(({ workflowId, name }) => `logs of ${name}: perago logs ${workflowId}\n`),
    ].join('')
  })
}

function factsOf(workflow: Workflow, nowMs: number): readonly (readonly string[])[] {
  const { workflowId, version, correlationId, parentId, startTimeMs, status } = workflow
  const endMs = isOpen(status) ? nowMs : workflow.endTimeMs
  const lasted = startTimeMs === 0 || endMs === 0 ? [] : [renderSeconds(endMs - startTimeMs)]
  const { ended_at: endedAt } = timeAs('ended_at', workflow.endTimeMs)
  const { started_at: startedAt } = timeAs('started_at', startTimeMs)
  return [
    ['id', workflowId],
    ...(version === undefined ? [] : [['version', String(version)]]),
    ...(correlationId === undefined ? [] : [['correlation id', oneLine(correlationId)]]),
    ...(parentId === undefined ? [] : [['run by', parentId]]),
    ...(startedAt === undefined ? [] : [['started', startedAt, ...lasted]]),
    ...(endedAt === undefined ? [] : [['ended', endedAt]]),
    ['logs', `perago logs ${workflowId}`],
  ]
}

/** Prints what the tasks have logged, the latest attempt of each. */
export async function showLogs(id: string, options: ConfiguredOptions, terminal: Terminal): Promise<void> {
  const logs = await withRunner(options, terminal, async (workflows) => {
    const tree = await openTreeReader(workflows, id)()
    const tasks = workflowsOf(tree).flatMap((workflow) =>
      latestAttempts(workflow).map((task) => ({ task, isChild: workflow !== tree.workflow })),
    )
    const read: { task: string; workflow_id?: string; lines: readonly string[] }[] = []
    await forEachBounded(tasks.entries(), { limit: LOGS_READ_AT_ONCE }, async ([at, { task, isChild }]) => {
      const lines = await workflows.readLog(task.taskId)
      const of = isChild ? { workflow_id: task.workflowId } : {}
      read[at] = { task: task.referenceTaskName, ...of, lines }
    })
    return read
  })
  answer(terminal, options, { logs }, () =>
    logs.flatMap(({ task, lines }) => lines.map((line) => `${task}  ${oneLine(line)}\n`)).join(''),
  )
}

const LOGS_READ_AT_ONCE = 8

export function describeWorkflow(workflow: Workflow): JsonObject {
  const { workflowId, name, status, output, reasonForIncompletion: reason } = workflow
  const { version, correlationId, parentId } = workflow
  return {
    workflow_id: workflowId,
    ...{ name, status, output },
    ...(version === undefined ? {} : { version }),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    ...timeAs('started_at', workflow.startTimeMs),
    ...timeAs('ended_at', workflow.endTimeMs),
    ...(reason === undefined ? {} : { reason }),
    tasks: workflow.tasks.map(describeAttempt),
    logs: `perago logs ${workflowId}`,
  }
}
