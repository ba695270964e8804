/** Walks a whole store: every entry is read, and every log of events is followed from its beginning to its end. */

import { isPeragoError, type PeragoError } from '../../base/errors.ts'
import { decodeEvent, misplaced } from '../../core/events/event.ts'
import { LogCheck, logHole } from '../../core/events/log-check.ts'
import { EXECUTIONS_PREFIX, readPlace } from '../../core/keys.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { Scopes, type BoundScope } from '../../core/namespaces/scopes.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'
import type { WalkableArchive } from '../../core/events/archive-port.ts'
import type { SealOptions } from '../../stores/sealed/sealed-store.ts'
import { verifyArchive, type ArchiveVerification } from './archive-verification.ts'
import { STORE_FINDINGS_MAX } from '../limits.ts'

export interface StoreFinding {
  readonly code: string
  readonly message: string
  /** Of the entry that is damaged or missing. Without it and without an execution, the rest of the store could not be walked. */
  readonly key?: string
  /** Whose log has a hole, and the places that are missing. */
  readonly execution?: string
  readonly from?: number
  readonly to?: number
}

export interface StoreVerification {
  readonly entries: number
  readonly logs: number
  readonly archive?: ArchiveVerification
  readonly found: number
  /** The first of them. */
  readonly findings: readonly StoreFinding[]
}

/** What is told as a finding; any other failure ends the walk. */
const DAMAGE = ['stores/corrupt', 'stores/damaged', 'stores/not-sealed', 'core/bad-record', 'core/log-hole']

/** As they are opened: the store through its seal, the archive below it. */
interface VerifiedStores {
  readonly store: Store
  readonly archive: WalkableArchive | undefined
  readonly seal: SealOptions | undefined
}

export async function verifyStore(given: VerifiedStores, signal: AbortSignal): Promise<StoreVerification> {
  const { store, archive, seal } = given
  const findings: StoreFinding[] = []
  let [entries, logs, found] = [0, 0, 0]
  const note = (error: PeragoError, key?: string): void => {
    found += 1
    if (findings.length < STORE_FINDINGS_MAX) findings.push(findingOf(error, key))
  }
  for await (const entry of walk(store, '', { signal, note })) entries += entry.key === '' ? 0 : 1
  for await (const { key } of walk(store, EXECUTIONS_PREFIX, { signal, note: () => undefined })) {
    logs += 1
    const { tenant, execution } = readPlace(key.slice(EXECUTIONS_PREFIX.length))
    const bound = new Scopes(store, tenant).of(execution)
    await tell(
      () => followLog(bound, signal, note),
      (error) => note(error, key),
    )
  }
  const verified = archive && (await verifyArchive({ archive, store, seal, note, signal }))
  return { entries, logs, ...(verified === undefined ? {} : { archive: verified }), found, findings }
}

type Note = (error: PeragoError, key?: string) => void

/** Damage of entries was told by the first walk, and their places are not missing. */
async function followLog(bound: BoundScope, signal: AbortSignal, note: Note): Promise<void> {
  const { store, keys, execution } = bound.scope
  const quiet = { signal, note: () => undefined }
  // The latest events before the log: whatever is recorded meanwhile is in the log.
  let latest = 0
  for await (const entry of walk(store, keys.events, quiet)) {
    await tell(
      () => {
        latest = Math.max(latest, decodeEvent(entry.value).sequence)
      },
      (error) => note(error, entry.key),
    )
  }
  const check = new LogCheck(bound, { order: 'ascending', after: undefined }, 'store')
  let last = 0
  const see = async (key: string): Promise<void> => {
    last = Number(key.slice(keys.log.length))
    await tell(async () => check.see(last), note)
  }
  const skipped: string[] = []
  const damaged: Note = (_, key) => {
    if (key?.startsWith(keys.log) === true) skipped.push(key)
  }
  for await (const entry of walk(store, keys.log, { signal, note: damaged })) {
    for (const key of skipped.splice(0)) await see(key)
    await see(entry.key)
    await tell(
      () => {
        if (keys.entry(decodeEvent(entry.value).sequence) !== entry.key) throw misplaced(entry.key)
      },
      (error) => note(error, entry.key),
    )
  }
  for (const key of skipped) await see(key)
  await tell(() => check.end(), note)
  const { record } = await bound.live.read()
  const isWhole = record.events === 'hot' && record.eventTtlMs === undefined
  if (isWhole && latest > Math.max(last, record.clearedUpTo)) {
    note(logHole(execution, { from: Math.max(last, record.clearedUpTo) + 1, to: latest }, 'store'))
  }
}

/** The entries of a range that can be read; goes on behind each that cannot. */
async function* walk(
  store: Store,
  prefix: string,
  { signal, note }: { readonly signal: AbortSignal; readonly note: Note },
): AsyncGenerator<StoreEntry, void, undefined> {
  let after: string | undefined
  for (let limit = STORE_PAGE_MAX_ENTRIES; ; limit = Math.min(limit * 2, STORE_PAGE_MAX_ENTRIES)) {
    try {
      const page = await store.range({ prefix, after, limit }, { signal })
      yield* page.entries
      if (page.next === undefined) return
      after = page.next
    } catch (error) {
      if (!isDamage(error)) throw error
      if (limit > 1) {
        // One by one, so that those before the damaged one are read as well.
        limit = 0.5
        continue
      }
      const { key } = error.details
      note(error, typeof key === 'string' ? key : undefined)
      // Where nothing names a place to go on from, the walk ends: the finding says so by having no key.
      if (typeof key !== 'string' || !isBehind(key, after)) return
      after = key
      limit = 0.5
    }
  }
}

function isBehind(key: string, after: string | undefined): boolean {
  return after === undefined || Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0
}

async function tell(work: () => unknown, note: Note): Promise<void> {
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

function findingOf({ code, message, details }: PeragoError, named: string | undefined): StoreFinding {
  const { key = named, execution, from, to } = details as Partial<StoreFinding>
  return JSON.parse(JSON.stringify({ code, message, key, execution, from, to })) as StoreFinding
}
