import { RefusedError } from '../../base/errors.ts'
import type { DueExecution, Maintenance } from '../../core/life-cycle/maintenance.ts'
import { withHost } from '../core-stores.ts'
import type { CoreOptions } from '../store-options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface SweepOptions extends CoreOptions {
  readonly dryRun?: boolean
}

/** Archives what has ended, if there is an archive, and removes what has been kept long enough; or only lists it. */
export async function sweep(options: SweepOptions, terminal: Terminal): Promise<void> {
  await withHost(options, terminal, ({ maintenance }) =>
    (options.dryRun === true ? showDue : sweepNow)(maintenance, options, terminal),
  )
}

async function showDue(maintenance: Maintenance, options: SweepOptions, terminal: Terminal): Promise<void> {
  const due: DueExecution[] = []
  for await (const execution of maintenance.listDue(terminal.stopSignal())) due.push(execution)
  answer(terminal, options, { due }, () => {
    if (due.length === 0) return ''
    const rows = due.map(({ execution, tenant, status, endedAt, parts }) => [
      execution,
      tenant ?? '-',
      status,
      endedAt,
      parts.join(', '),
    ])
    return renderTable([['EXECUTION', 'TENANT', 'STATUS', 'ENDED', 'WOULD GO'], ...rows])
  })
  if (options.json !== true) terminal.say(`${due.length} would be swept; nothing was changed\n`)
}

async function sweepNow(maintenance: Maintenance, options: SweepOptions, terminal: Terminal): Promise<void> {
  const signal = terminal.stopSignal()
  try {
    const archived = await maintenance.archiveOnce(signal)
    const swept = await maintenance.sweepOnce(signal, { waits: true })
    if (swept === undefined) {
      throw new RefusedError('cli/sweep-held', 'sweep: another instance is sweeping', {
        next: 'A running perago serve sweeps on its own; otherwise try again when that sweep has ended.',
      })
    }
    answer(terminal, options, { archived: archived ?? null, swept }, () => {
      // A running server archives all the time and keeps the lease for it.
      const told =
        archived === undefined ? 'archiving is done by another instance' : `archived ${archived.done}`
      return `${told}, swept ${swept.done}\n`
    })
    const failed = (archived?.failed ?? 0) + swept.failed
    if (failed === 0) return
    throw new RefusedError('cli/sweep-incomplete', `sweep: ${failed} executions failed`, {
      details: { archived, swept },
      next: 'See the warnings above; the next sweep tries again.',
    })
  } finally {
    await maintenance.release()
  }
}
