/** What a host can say of its store and its archive without reading them: their kinds and sizes, and the last passes over them. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { EventArchive } from '../../core/events/archive-port.ts'
import type { MaintainedPass } from '../../core/life-cycle/keep-maintained.ts'
import type { Store } from '../../core/ports.ts'
import { HEALTH_TIMEOUT_MS } from '../limits.ts'

export interface StoreReport {
  readonly store: StorePlace
  readonly archive?: StorePlace | undefined
  /** The last pass of this host; absent before, and where another one does it. */
  readonly swept?: NotedPass | undefined
  readonly archived?: NotedPass | undefined
}

export interface StorePlace {
  readonly kind: string
  /** Absent where it is not cheap to know, or cannot be read now. */
  readonly bytes?: number | undefined
}

export interface NotedPass {
  readonly at: Date
  /** Executions. */
  readonly done: number
  readonly failed: number
}

export interface StoreReporter {
  readonly note: (pass: MaintainedPass) => void
  readonly report: () => Promise<StoreReport>
}

export interface StoreReportParts {
  readonly store: Pick<Store, 'name' | 'sizeBytes'>
  readonly archive?: Pick<EventArchive, 'name' | 'sizeBytes'> | undefined
  readonly clock?: Clock | undefined
  readonly timeoutMs?: number
}

export function openStoreReporter({
  store,
  archive,
  clock = systemClock,
  timeoutMs = HEALTH_TIMEOUT_MS,
}: StoreReportParts): StoreReporter {
  const passes: Partial<Record<MaintainedPass['of'], NotedPass>> = {}
  return {
    note: ({ of, done, failed }) => {
      passes[of] = { at: clock.now(), done, failed }
    },
    report: async () => {
      const signal = AbortSignal.timeout(timeoutMs)
      const [bytes, archiveBytes] = await Promise.all([
        measure(signal, () => store.sizeBytes?.({ signal })),
        measure(signal, () => archive?.sizeBytes?.()),
      ])
      return {
        store: { kind: store.name, ...defined({ bytes }) },
        ...defined({
          archive: archive && { kind: archive.name, ...defined({ bytes: archiveBytes }) },
          swept: passes.sweep,
          archived: archive && passes.archive,
        }),
      }
    },
  }
}

/** A store that does not answer is what an examination is for. */
async function measure(
  signal: AbortSignal,
  read: () => Promise<number> | undefined,
): Promise<number | undefined> {
  const late = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  try {
    return await Promise.race([read(), late])
  } catch {
    return undefined
  }
}
