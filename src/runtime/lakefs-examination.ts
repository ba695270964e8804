/** What can be said about a lakeFS without changing anything in it. */

import type { Clock } from '../base/clock.ts'
import { systemClock } from '../base/clock.ts'
import { readServerInfo } from '../lakefs/administration.ts'
import type { LakefsClient } from '../lakefs/client.ts'

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
  const info = await readServerInfo(client, options.signal === undefined ? {} : { signal: options.signal })
  return {
    endpoint: info.endpoint,
    version: info.version,
    blockstore: info.blockstoreType,
    credentialsAccepted: true,
    answeredInMs: Math.round(clock.monotonicMs() - startMs),
    transfers: {
      presigned: info.presign,
      multipart: info.presignMultipart,
      checksumVerified: info.checksumIsMd5,
    },
    strengths: { moveBranch: 'soft' },
  }
}
