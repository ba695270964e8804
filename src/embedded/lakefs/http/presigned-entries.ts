/** Presigned addresses of what is already stored. Asked of a server that does not offer them, they are a 400. */

import type { Entry } from '../engine/engine.ts'
import { HttpProblem } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { PresignedGrant } from './signatures.ts'

export const PRESIGN_NOT_OFFERED = 'local adapter presigned URL: operation not supported'

export function presignEntry(
  exchange: Exchange,
  entry: Entry,
): { readonly physical_address: string; readonly physical_address_expiry: number } {
  const { url, expiry } = presign(exchange, {
    method: 'GET',
    repository: exchange.repository,
    physicalAddress: entry.physicalAddress,
    checksum: entry.checksum,
    uploadId: '',
    partNumber: 0,
  })
  return { physical_address: url, physical_address_expiry: expiry }
}

export function presign(exchange: Exchange, grant: PresignedGrant): { url: string; expiry: number } {
  if (!exchange.parts.presign) throw new HttpProblem(400, PRESIGN_NOT_OFFERED)
  const { target, expiresAt } = exchange.parts.signatures.presign(grant)
  return { url: `${exchange.baseUrl()}${target}`, expiry: Math.floor(expiresAt / 1000) }
}
