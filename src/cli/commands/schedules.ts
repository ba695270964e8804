/** The schedules of an engine. */

import { oneLine } from '../../base/one-line.ts'
import { answer, renderTable } from '../answers.ts'
import { findEngine, type EngineOptions } from '../engine-server.ts'
import type { Terminal } from '../terminal.ts'

/** As the API shows it. */
interface Schedule {
  readonly pipeline: string
  readonly name: string
  readonly cron: string
  readonly time_zone: string
  readonly next_at?: string
  readonly last?: { readonly at: string; readonly execution_id?: string; readonly problem?: string }
}

interface Page {
  readonly schedules: readonly Schedule[]
  readonly next_after?: string
}

export async function listSchedules(options: EngineOptions, terminal: Terminal): Promise<void> {
  const engine = await findEngine(options, terminal)
  const schedules: Schedule[] = []
  for (let after = ''; ;) {
    const page: Page = await engine.ask(`/schedules${after}`)
    schedules.push(...page.schedules)
    if (page.next_after === undefined) break
    after = `?after=${encodeURIComponent(page.next_after)}`
  }
  answer(terminal, options, { schedules }, () =>
    schedules.length === 0 ? 'there are no schedules\n' : renderTable(schedules.map(renderSchedule)),
  )
}

function renderSchedule({ pipeline, name, cron, time_zone: zone, next_at: next, last }: Schedule): string[] {
  return [
    `${pipeline}/${name}`,
    `${cron} ${zone}`,
    next === undefined ? 'paused' : `next ${next}`,
    last === undefined ? '' : `last ${last.at}: ${oneLine(last.execution_id ?? last.problem ?? 'nothing')}`,
  ]
}
