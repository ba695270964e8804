/** Examines a lakeFS without changing anything in it. */

import { systemClock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import { listRepositories, readServerInfo } from '../../lakefs/administration.ts'
import type { FencePolicy } from '../../publication/hard-fences.ts'
import type { LakefsClient } from '../../lakefs/client.ts'

export type LakefsExamination = Awaited<ReturnType<typeof examineLakefs>>

/** Throws the error of the client if the server is unreachable, refuses the credentials, or is not a lakeFS. */
export async function examineLakefs(
  client: LakefsClient,
  call: { readonly signal: AbortSignal; readonly fence?: FencePolicy | undefined },
) {
  const { fence = 'preferred' } = call
  const startMs = systemClock.monotonicMs()
  const info = await readServerInfo(client, call)
  const answeredInMs = Math.round(systemClock.monotonicMs() - startMs)
  return {
    endpoint: info.endpoint,
    version: info.version,
    blockstore: info.blockstoreType,
    /** Always true: otherwise the examination fails. */
    credentialsAccepted: true,
    /** How long the first request took, with the connection. */
    answeredInMs,
    transfers: {
      /** Bytes go directly to the object store. */
      presigned: info.presign,
      /** … large ones in parts. */
      multipart: info.presignMultipart,
      /** Downloads are compared with the checksum that lakeFS has. */
      checksumVerified: info.checksumIsMd5,
    },
    permissions: { listRepositories: await mayList(client, call) },
    /** `soft`: read, decide, act. lakeFS can move a branch on a condition only where a fence is installed. */
    strengths: { moveBranch: 'soft', fence },
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
