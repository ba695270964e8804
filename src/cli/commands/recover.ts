import { resolve } from 'node:path'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import {
  examine,
  isRecoveryAction,
  recover,
  type Examination,
  type Recovered,
} from '../../recovery/recover.ts'
import { RECOVERY_ACTIONS } from '../../recovery/plan.ts'
import { withRecovery } from '../../runtime/open-recovery.ts'
import { answer } from '../answers.ts'
import { loadForCommand } from '../configured.ts'
import { readJsonArgument } from '../json-argument.ts'
import { PATIENCE, WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface RecoverOptions extends ConfiguredOptions {
  readonly apply?: boolean
  readonly action?: string
  readonly reason?: string
  readonly result?: string
  readonly root?: string
}

/** Ends with exit code 3 while something is left that asks for a decision. */
export async function recoverTarget(
  target: string,
  options: RecoverOptions,
  terminal: Terminal,
): Promise<void> {
  const { action, reason } = options
  if (options.apply !== true && action !== undefined) throw applyMissing()
  const asked = action !== undefined && isRecoveryAction(action) ? action : undefined
  const result =
    options.result === undefined ? undefined : await readJsonArgument('--result', options.result, terminal)
  const found = await overRecovery(options, terminal, (world) =>
    options.apply === true
      ? recover(world, { target, action: asked, reason, result })
      : examine(world, target),
  )
  answer(terminal, options, { branches: found.map(describe) }, () =>
    found.map((each) => render(each, target)).join('\n'),
  )
  const left = found.filter((each) => !each.isNormal && doneOf(each).length === 0)
  if (left.length > 0) throw undecided(target, left)
}

export async function overRecovery<T>(
  options: ConfiguredOptions & { readonly root?: string },
  terminal: Terminal,
  work: Parameters<typeof withRecovery<T>>[2],
): Promise<T> {
  const { configuration, logger } = await loadForCommand(options, terminal)
  const root = resolve(terminal.directory, options.root ?? WORK_ROOT.join('/'))
  const signal = terminal.stopSignal()
  return withRecovery(configuration, { logger, root, retry: PATIENCE, signal }, work)
}

function doneOf(found: Examination | Recovered): Recovered['done'] {
  return 'done' in found ? found.done : []
}

function describe(found: Examination | Recovered): object {
  const { situation, says, isNormal, findings, offered } = found
  const { place, facts, task, inputRef, head, outputRef, held, staged, others } = findings
  return {
    ...place,
    ...{ situation, says, is_normal: isNormal, facts },
    task: task && {
      workflow_id: task.workflow.workflowId,
      task_id: task.record.taskId,
      name: task.record.referenceTaskName,
      status: task.record.status,
      attempt: task.record.retryCount,
    },
    input_ref: inputRef,
    head: head && { ref: head.ref, parents: head.parents, message: head.message, metadata: head.metadata },
    output_ref: outputRef,
    result: held && { path: held.path, status: held.result.status, refused: held.isRefused },
    staged: staged && {
      branch: staged.stagingBranch,
      ref: staged.ref,
      code: staged.code,
      why: staged.message,
    },
    other_workflows: others,
    offered: offered.map(({ action, isDefault, needsReason, steps }) => ({
      ...{ action, is_default: isDefault, needs_reason: needsReason, steps },
    })),
    done: doneOf(found),
  }
}

function render(found: Examination | Recovered, target: string): string {
  const { situation, says, findings, offered } = found
  const { place, task, inputRef, head, staged, others } = findings
  const lines = [`${place.repository}/${place.branch}  ${situation}: ${says}`]
  const note = (name: string, text: string | undefined): number | undefined =>
    text === undefined ? undefined : lines.push(`  ${name.padEnd(8)} ${text}`)
  note(
    'task',
    task && `${task.record.referenceTaskName} of workflow ${task.workflow.workflowId}, ${task.record.status}`,
  )
  note('input', inputRef)
  note('head', head && `${head.ref}  ${head.message}`)
  note('staged', staged && `${staged.ref}  ${staged.code}`)
  note('others', others.length === 0 ? undefined : others.join(', '))
  for (const done of doneOf(found)) {
    const { step, ...rest } = done
    note('done', `${step} ${Object.values(rest).join(' ')}`)
  }
  if (doneOf(found).length > 0) return `${lines.join('\n')}\n`
  for (const { action, isDefault, needsReason } of offered) {
    const reason = needsReason ? ' --reason "…"' : ''
    const result = action === 'adopt' ? " --result '…'" : ''
    const name = isDefault ? '' : ` --action ${action}`
    note(
      'may',
      `${RECOVERY_ACTIONS[action]}:\n             perago recover ${target} --apply${name}${reason}${result}`,
    )
  }
  return `${lines.join('\n')}\n`
}

function applyMissing(): InvalidError {
  return new InvalidError('cli/bad-usage', 'read the command line: --action is only for --apply', {
    next: 'Add --apply, or leave --action out to see what is offered.',
  })
}

function undecided(target: string, left: readonly Examination[]): RefusedError {
  const situations = left.map(({ situation }) => situation)
  return new RefusedError(
    'cli/needs-decision',
    `recover ${target}: ${situations.join(', ')}; nothing was changed`,
    {
      details: { situations },
      next: `See docs/guides/recovery/${situations[0] ?? ''}.md, and what is offered above.`,
    },
  )
}
