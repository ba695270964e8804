import type { ConfiguredOptions } from '../options.ts'
import { printableJson } from '../../base/one-line.ts'
import { followWorkflow, notCompleted } from '../follow-workflow.ts'
import { withRunner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { openUnpolled } from '../unpolled.ts'
import { START_ON_DEV, START_WORKER } from '../unpolled-advice.ts'
import { drawWorkflow, listChanges, screenOf } from '../workflow-view.ts'

/** Until it has ended. An end without success is an error. */
export async function watchWorkflow(
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  const stop = terminal.stopSignal()
  const screen = options.json === true ? undefined : screenOf(process.stdout)
  const view = screen === undefined ? listChanges(terminal.answer) : drawWorkflow(screen, terminal.style)
  await withRunner(options, terminal, async (workflows, { isDev }) => {
    const findUnpolled = openUnpolled({
      readLastPolls: (taskType) => workflows.readLastPolls(taskType, { signal: stop }),
      next: isDev ? START_ON_DEV : START_WORKER,
    })
    const ended = await followWorkflow(id, { workflows, view, findUnpolled, stop })
    const { workflowId, name, status, output, reasonForIncompletion: reason } = ended
    if (screen === undefined) {
      const last = {
        workflow_id: workflowId,
        name,
        status,
        output,
        ...(reason === undefined ? {} : { reason }),
      }
      terminal.answer(`${printableJson(last)}\n`)
    }
    if (status !== 'COMPLETED') throw notCompleted(ended)
  })
}
