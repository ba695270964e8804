import { MissingError, RefusedError } from '../../base/errors.ts'
import { suggest } from '../../base/suggestion.ts'
import type { Workflow, Workflows } from '../../runtime/workflows.ts'
import { answer } from '../answers.ts'
import type { ConfiguredOptions } from '../options.ts'
import { withRunner } from '../runner.ts'
import type { Terminal } from '../terminal.ts'
import { latestAttempts, readWorkflow } from '../workflow-tree.ts'
import { describeWorkflow } from './workflow-show.ts'

type Act = 'pause' | 'resume'

/** Does one of them, and shows what became of it. */
export async function actOnWorkflow(
  act: Act,
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
): Promise<void> {
  await change(id, options, terminal, (workflows) => workflows[act](id))
}

export interface RetryOptions extends ConfiguredOptions {
  readonly from?: string
}

/** Tries again what failed last, or everything from a task on. */
export async function retryWorkflow(id: string, options: RetryOptions, terminal: Terminal): Promise<void> {
  const { from } = options
  await change(id, options, terminal, (workflows, before) =>
    from === undefined ? workflows.retry(id) : workflows.rerun(id, taskOf(before, from).taskId),
  )
}

export async function cancelWorkflow(
  id: string,
  options: ConfiguredOptions & { readonly reason?: string },
  terminal: Terminal,
): Promise<void> {
  const { reason = 'cancelled from the command line' } = options
  await change(id, options, terminal, async (workflows) => workflows.terminate(id, reason))
}

async function change(
  id: string,
  options: ConfiguredOptions,
  terminal: Terminal,
  act: (workflows: Workflows, before: Workflow) => Promise<boolean>,
): Promise<void> {
  const workflow = await withRunner(options, terminal, async (workflows) => {
    // An unknown id and a state that does not allow it are answered alike.
    const before = await readWorkflow(workflows, id)
    if (!(await act(workflows, before)))
      throw new RefusedError('cli/not-now', `change workflow ${id}: its state does not allow it`, {
        next: `Look at "perago show ${id}".`,
      })
    return readWorkflow(workflows, id)
  })
  answer(
    terminal,
    options,
    describeWorkflow(workflow),
    () => `${workflow.name} ${workflow.status.toLowerCase()}\n`,
  )
}

function taskOf(workflow: Workflow, name: string): Workflow['tasks'][number] {
  const tasks = latestAttempts(workflow)
  const found = tasks.find(({ referenceTaskName, taskId }) => referenceTaskName === name || taskId === name)
  if (found !== undefined) return found
  const names = tasks.map(({ referenceTaskName }) => referenceTaskName)
  const meant = suggest(name, names)
  throw new MissingError(
    'cli/no-such-step',
    `retry workflow ${workflow.workflowId} from "${name}": it has no such task`,
    {
      details: { tasks: names },
      next: meant === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean "${meant}"?`,
    },
  )
}
