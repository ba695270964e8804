/** Whether lakeFS and the object store behind it are there; see `remote/server-watch.ts`. */

import type { Clock } from '../base/clock.ts'
import { isPeragoError, type ErrorCode } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { ServerWatch, type AwayServer } from '../remote/server-watch.ts'
import { connectionOf, type LakefsClient } from './client.ts'

/** What a server that is away makes of a request, or whatever answers in its place. */
const OUTAGE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'lakefs/unreachable',
  'lakefs/answer-lost',
  'lakefs/server-trouble',
  'lakefs/overloaded',
  'lakefs/request-timeout',
  'lakefs/unknown-answer',
  'lakefs/not-lakefs',
  'lakefs/short-body',
  'lakefs/store-unreachable',
  'lakefs/store-trouble',
  // These say that such an error kept a publication from knowing what became of it.
  'publication/unconfirmed',
  'publication/unsettled',
])

export class LakefsWatch extends ServerWatch<'lakefs' | 'object-store'> {
  /** `prober` has connections of its own, because the others may all be waiting. The caller closes it, after the watch. */
  constructor(prober: LakefsClient, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    const { origin: main } = prober.endpoint
    super({
      ...{ main, clock, logger },
      describe: (origin) =>
        origin === main
          ? { what: 'lakefs', title: 'lakeFS', probe: (signal) => probeLakefs(prober, signal) }
          : {
              what: 'object-store',
              title: `the object store ${new URL(origin).host}`,
              probe: (signal) => probeStore(prober, origin, signal),
            },
    })
  }

  /** The outage that made an error of work that began at `sinceMs`; `undefined` if the error has another reason. */
  async explain(error: unknown, sinceMs: number): Promise<AwayServer<'lakefs' | 'object-store'> | undefined> {
    return isPeragoError(error) && OUTAGE_CODES.has(error.code) ? this.findAwaySince(sinceMs) : undefined
  }
}

/** Reads what a server cannot answer without its database. */
async function probeLakefs(prober: LakefsClient, signal: AbortSignal): Promise<void> {
  const call = { operation: 'listRepositories', query: { amount: 1 }, signal } as const
  await connectionOf(prober)
    .server.once(call, () => undefined)
    .catch(unlessAnswered)
}

/** Without a signed address every store refuses, which shows that it is there. */
async function probeStore(prober: LakefsClient, origin: string, signal: AbortSignal): Promise<void> {
  const call = { operation: 'getBytes', address: new URL(origin), target: {}, signal } as const
  await connectionOf(prober)
    .store.once(call, () => undefined)
    .catch(unlessAnswered)
}

function unlessAnswered(error: unknown): void {
  if (!isPeragoError(error) || OUTAGE_CODES.has(error.code)) throw error
}
