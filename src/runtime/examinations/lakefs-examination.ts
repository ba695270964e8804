/** What can be said about a lakeFS without changing anything in it. */

import type { Clock } from '../../base/clock.ts'
import { systemClock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import { listRepositories, readServerInfo } from '../../lakefs/administration.ts'
import type { LakefsClient } from '../../lakefs/client.ts'

export interface LakefsExamination {
  readonly endpoint: string
  /** As the server calls itself. */
  readonly version: string
  readonly blockstore: string
  /** It took our credentials. Always true: otherwise the examination fails, and says how. */
  readonly credentialsAccepted: true
  /** How long the first question and its answer took, connecting included. */
  readonly answeredInMs: number
  readonly transfers: {
    /** Bytes go straight to the object store. */
    readonly presigned: boolean
    /** … large ones in parts. */
    readonly multipart: boolean
    /** A download is checked against the checksum that lakeFS keeps. */
    readonly checksumVerified: boolean
  }
  readonly permissions: {
    /** Our user may see which repositories there are. */
    readonly listRepositories: boolean
  }
  readonly strengths: {
    /** `soft`: read, decide, act. lakeFS cannot move a branch on a condition. */
    readonly moveBranch: 'soft'
  }
}

/** Asks the server what it is; throws what the client throws when it is unreachable, refuses us, or is no lakeFS. */
export async function examineLakefs(
  client: LakefsClient,
  options: { readonly signal?: AbortSignal; readonly clock?: Clock } = {},
): Promise<LakefsExamination> {
  const clock = options.clock ?? systemClock
  const startMs = clock.monotonicMs()
  const call = options.signal === undefined ? {} : { signal: options.signal }
  const info = await readServerInfo(client, call)
  const answeredInMs = Math.round(clock.monotonicMs() - startMs)
  return {
    endpoint: info.endpoint,
    version: info.version,
    blockstore: info.blockstoreType,
    credentialsAccepted: true,
    answeredInMs,
    transfers: {
      presigned: info.presign,
      multipart: info.presignMultipart,
      checksumVerified: info.checksumIsMd5,
    },
    permissions: { listRepositories: await mayList(client, call) },
    strengths: { moveBranch: 'soft' },
  }
}

async function mayList(client: LakefsClient, call: { readonly signal?: AbortSignal }): Promise<boolean> {
  try {
    const found = listRepositories(client, { ...call, pageSize: 1 })
    await found[Symbol.asyncIterator]().next()
    return true
  } catch (error) {
    if (isPeragoError(error) && error.code === 'lakefs/forbidden') return false
    throw error
  }
}
