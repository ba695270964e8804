/** Walks a whole archive: every row is opened, and the rows of each execution have to follow each other. */

import { isPeragoError, type PeragoError } from '../../base/errors.ts'
import {
  SEALED_SOURCE,
  type EventArchive,
  type EventRow,
  type WalkableArchive,
} from '../../core/events/archive-port.ts'
import { LogCheck } from '../../core/events/log-check.ts'
import { EXECUTIONS_PREFIX, executionId, readPlace, tenantId } from '../../core/keys.ts'
import { Scopes, type BoundScope } from '../../core/namespaces/scopes.ts'
import { decodeRecord } from '../../core/namespaces/execution-record.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import { openRows, walkArchive } from '../../stores/sealed/sealed-archive.ts'
import type { SealOptions } from '../../stores/sealed/sealed-store.ts'

export interface ArchiveVerification {
  readonly rows: number
  /** Rows that are not encrypted. */
  readonly unsealed: number
}

interface ArchiveWalk {
  readonly archive: WalkableArchive
  readonly store: Store
  readonly seal: SealOptions | undefined
  readonly note: (error: PeragoError) => void
  readonly signal: AbortSignal
}

/** What is told as a finding; any other failure ends the walk. */
const DAMAGE = ['stores/corrupt', 'core/bad-record', 'core/log-hole', 'core/bad-id', 'core/no-such-execution']
/** Of a row that was changed on purpose; of all of them, a wrong key. */
const NOT_OPENED = 'stores/damaged'

export async function verifyArchive(walk: ArchiveWalk): Promise<ArchiveVerification> {
  const { archive, store, note, signal } = walk
  const open = openRows(archive, walk.seal ?? {})
  let [rows, unsealed, opened] = [0, 0, 0]
  let notOpened: PeragoError | undefined
  const look = async (row: EventRow): Promise<void> => {
    rows += 1
    if (row.sourceType !== SEALED_SOURCE) unsealed += 1
    try {
      await open(row)
      if (row.sourceType === SEALED_SOURCE) opened += 1
    } catch (error) {
      if (!isPeragoError(error) || ![NOT_OPENED, ...DAMAGE].includes(error.code)) throw error
      if (error.code === NOT_OPENED) notOpened ??= error
      note(error)
    }
  }
  let log: ArchivedLog | undefined
  await tell(note, async () => {
    for await (const page of walkArchive(archive, signal)) {
      for (const row of page) {
        await look(row)
        if (log?.isOf(row) !== true) {
          await log?.end()
          log = new ArchivedLog(store, row, note)
        }
        await log.see(row.sequence)
      }
    }
    await log?.end()
  })
  if (notOpened !== undefined && opened === 0) throw notOpened
  await findMissing(store, archive, { note, signal })
  return { rows, unsealed }
}

/** The rows of one execution. */
class ArchivedLog {
  readonly #row: EventRow
  readonly #note: ArchiveWalk['note']
  #check: LogCheck | undefined

  constructor(store: Store, row: EventRow, note: ArchiveWalk['note']) {
    this.#row = row
    this.#note = note
    try {
      const tenant = row.tenant === '' ? undefined : tenantId(row.tenant)
      const bound = new Scopes(store, tenant).of(executionId(row.execution))
      this.#check = checkOf(bound)
    } catch (error) {
      if (!isDamage(error)) throw error
      note(error)
    }
  }

  isOf({ tenant, execution }: EventRow): boolean {
    return tenant === this.#row.tenant && execution === this.#row.execution
  }

  see(sequence: number): Promise<void> {
    return tell(this.#note, async () => this.#check?.see(sequence))
  }

  end(): Promise<void> {
    return tell(this.#note, async () => this.#check?.end())
  }
}

function checkOf(bound: BoundScope): LogCheck {
  return new LogCheck(bound, { order: 'ascending', after: undefined }, 'archive')
}

/** Executions whose events should all be in the archive, which has none of them. */
async function findMissing(
  store: Store,
  archive: EventArchive,
  { note, signal }: Pick<ArchiveWalk, 'note' | 'signal'>,
): Promise<void> {
  const look = async ({ key, value }: StoreEntry): Promise<void> => {
    const { events } = decodeRecord(value)
    if (events !== 'archived' && events !== 'cold') return
    const { tenant, execution } = readPlace(key.slice(EXECUTIONS_PREFIX.length))
    if ((await archive.count({ tenant: tenant ?? '', execution })) > 0) return
    await checkOf(new Scopes(store, tenant).of(execution)).end()
  }
  // Where the store cannot be read, its own walk has told so.
  await tell(
    () => undefined,
    async () => {
      for await (const page of readPages(store, { prefix: EXECUTIONS_PREFIX }, { signal })) {
        for (const entry of page) await tell(note, () => look(entry))
      }
    },
  )
}

async function tell(note: ArchiveWalk['note'], work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isDamage(error)) throw error
    note(error)
  }
}

function isDamage(error: unknown): error is PeragoError {
  return isPeragoError(error) && DAMAGE.includes(error.code)
}
