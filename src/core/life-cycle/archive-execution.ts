/** Archiving one ended execution: its events leave the store once the archive holds all of them. */

import { DefectError } from '../../base/errors.ts'
import { ARCHIVE_BATCH_EVENTS } from '../limits.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { placeOf, rowOfEvent } from '../events/archived-events.ts'
import { freeHotEvents } from '../events/clear-events.ts'
import { decodeEvent } from '../events/event.ts'
import { LogCheck } from '../events/log-check.ts'
import { dropsOf } from '../namespaces/ended-index.ts'
import { hasEnded } from '../namespaces/execution-record.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import { markRecord } from '../namespaces/mark-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { readPages } from '../read-pages.ts'

/** May be interrupted anywhere; the next call starts again. Returns whether there was anything to do. */
export async function archiveExecution(
  bound: BoundScope,
  { archive, pace }: { readonly archive: EventArchive; readonly pace: WritePace },
): Promise<boolean> {
  const { record } = await bound.live.read()
  if (!hasEnded(record)) return false
  if (record.events === 'hot') {
    const written = await copyLog(bound, archive)
    const held = await archive.count(placeOf(bound.scope))
    if (held < written) {
      throw new DefectError(
        'core/archive-incomplete',
        `archive execution ${record.id}: ${written} events were written, the archive holds ${held}`,
        { next: 'The events stay in the store. Check the archive.' },
      )
    }
    await markRecord(bound, pace, (found) =>
      found.events === 'hot' ? { ...found, events: 'archived' } : found,
    )
  }
  if ((await bound.live.read()).record.events !== 'archived') return false
  await freeHotEvents(bound)
  await markRecord(
    bound,
    pace,
    (found) => (found.events === 'archived' ? { ...found, events: 'cold' } : found),
    (found) => dropsOf(bound.scope, found, ['archive']),
  )
  return true
}

async function copyLog(bound: BoundScope, archive: EventArchive): Promise<number> {
  const { scope } = bound
  const { store, keys } = scope
  const check = new LogCheck(bound, { order: 'ascending', after: undefined }, 'store')
  let written = 0
  for await (const page of readPages(store, { prefix: keys.log, limit: ARCHIVE_BATCH_EVENTS })) {
    const events = page.map(({ value }) => decodeEvent(value))
    for (const { sequence } of events) await check.see(sequence)
    if (events.length > 0) await archive.write(events.map((event) => rowOfEvent(event, scope)))
    written += page.length
  }
  await check.end()
  return written
}
