/** Examines a lakeFS without changing anything in it. */

import { systemClock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import { listRepositories, readServerInfo } from '../../lakefs/administration.ts'
import type { LakefsClient } from '../../lakefs/client.ts'

export interface LakefsExamination {
  readonly endpoint: string
  /** As the server reports it. */
  readonly version: string
  readonly blockstore: string
  /** Always true: otherwise the examination fails. */
  readonly credentialsAccepted: true
  /** How long the first request took, with the connection. */
  readonly answeredInMs: number
  readonly transfers: {
    /** Bytes go directly to the object store. */
    readonly presigned: boolean
    /** … large ones in parts. */
    readonly multipart: boolean
    /** Downloads are compared with the checksum that lakeFS has. */
    readonly checksumVerified: boolean
  }
  readonly permissions: {
    /** The user may list the repositories. */
    readonly listRepositories: boolean
  }
  readonly strengths: {
    /** `soft`: read, decide, act. lakeFS cannot move a branch on a condition. */
    readonly moveBranch: 'soft'
  }
}

/** Throws the error of the client if the server is unreachable, refuses the credentials, or is not a lakeFS. */
export async function examineLakefs(
  client: LakefsClient,
  call: { readonly signal: AbortSignal },
): Promise<LakefsExamination> {
  const startMs = systemClock.monotonicMs()
  const info = await readServerInfo(client, call)
  const answeredInMs = Math.round(systemClock.monotonicMs() - startMs)
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

async function mayList(client: LakefsClient, call: { readonly signal: AbortSignal }): Promise<boolean> {
  try {
    const found = listRepositories(client, { ...call, pageSize: 1 })
    await found[Symbol.asyncIterator]().next()
    return true
  } catch (error) {
    if (isPeragoError(error) && error.code === 'lakefs/forbidden') return false
    throw error
  }
}
