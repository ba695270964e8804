/** One line for each task that has ended, for those who watch a worker: a sentence on a terminal, a record elsewhere. */

import { describeError, renderError } from '../../base/error-description.ts'
import { oneLine } from '../../base/one-line.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { WorkerEvent, WorkerObserver } from '../../worker/events.ts'
import { formatOf, openLogger, type OpenLoggerRequest } from './logging.ts'

type Ended = Extract<WorkerEvent, { readonly kind: 'attempt-ended' }>

/** `fields`: more for each record. */
export function tellTasks(
  request: OpenLoggerRequest,
  fields: Readonly<Record<string, unknown>> = {},
): WorkerObserver {
  if (request.level === 'silent') return () => undefined
  if (formatOf(request) === 'pretty') {
    const write = request.write ?? ((line) => void process.stderr.write(line))
    return (event) => {
      if (event.kind === 'attempt-ended') write(`${renderEnd(event, new Date(), request.redactor)}\n`)
    }
  }
  // Whatever the level of the log is: these records were asked for.
  const logger = openLogger({ ...request, level: 'info' }).child(fields)
  return (event) => {
    if (event.kind !== 'attempt-ended') return
    const { attempt, summary, error } = event
    const { workflowId: workflow, taskName: task, taskId, retryCount } = attempt
    const record = { workflow, task, taskId, attempt: retryCount, ...summary }
    if (error === undefined) logger.info('the task is done', record)
    else logger.warn('the task did not succeed', { ...record, error })
  }
}

const ENDED = {
  COMPLETED: '✓',
  FAILED: '✗ failed',
  FAILED_WITH_TERMINAL_ERROR: '✗ failed for good',
  IN_PROGRESS: '↩ handed back',
} as const satisfies Record<Ended['summary']['status'], string>

const DELIVERED = {
  delivered: undefined,
  superseded: 'too late: the task was decided without it',
  kept: 'the result is kept, and sent again',
  refused: 'Conductor refused the result',
} as const satisfies Record<Ended['summary']['delivery'], string | undefined>

function renderEnd({ attempt, summary, error }: Ended, now: Date, redactor: Redactor): string {
  const { status, delivery, durationMs } = summary
  const parts = [
    `${now.toISOString().slice(11, 19)} ${ENDED[status]} ${attempt.taskName}`,
    `workflow ${attempt.workflowId}`,
    attempt.retryCount === 0 ? undefined : `attempt ${attempt.retryCount + 1}`,
    error === undefined ? describePublished(summary) : renderError(describeError(error, redactor)),
    DELIVERED[delivery],
    `${(durationMs / 1_000).toFixed(1)} s`,
  ]
  return oneLine(parts.filter((part) => part !== undefined).join('  '))
}

/** Of a success. */
function describePublished({ action, outputRef, changed }: Ended['summary']): string {
  const ref = (outputRef ?? '').slice(0, 12)
  switch (action) {
    case undefined:
      return 'done'
    case 'completed':
      return 'done, nothing changed'
    case 'relocated':
      return `nothing changed, the branch is back at ${ref}`
    case 'adopted':
      return `adopted ${ref}`
    default: {
      const { written = 0, deleted = 0 } = changed ?? {}
      const files = `${written} ${written === 1 ? 'file' : 'files'} written${deleted > 0 ? `, ${deleted} deleted` : ''}`
      const replaced = action === 'replaced' ? ' in place of an earlier commit' : ''
      return `published ${ref}${replaced}: ${files}`
    }
  }
}
