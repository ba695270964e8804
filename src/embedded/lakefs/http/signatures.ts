/**
 * What this server signs and gets back from clients: staging addresses, and presigned addresses, which replace
 * credentials. The kind is part of what is signed, so one cannot be used as the other.
 */

import { createHmac } from 'node:crypto'

import type { Clock } from '../../../base/clock.ts'
import { EMBEDDED_PRESIGN_MS, EMBEDDED_STAGING_ADDRESS_MS } from '../../limits.ts'
import { HttpProblem } from './answer.ts'
import { sameText } from './authenticate.ts'

/** What a staging address was issued for; it is valid for nothing else. */
export interface StagingTarget {
  readonly repository: string
  readonly branch: string
  readonly path: string
}

/** What a presigned address allows: exactly this, until it expires. */
export interface PresignedGrant {
  readonly method: 'GET' | 'PUT'
  readonly repository: string
  readonly physicalAddress: string
  /** Sent as `ETag` of a download; empty when there is none. */
  readonly checksum: string
  /** Only for a part of a multi-part upload. */
  readonly uploadId: string
  readonly partNumber: number
}

export const PRESIGNED_PATH = '/_presigned'

export interface Signatures {
  /** The reserved address, a comma and a signature. */
  signStagingAddress(target: StagingTarget, address: string): string
  /** Returns the reserved address without its signature; throws when it is not valid for the target. */
  checkStagingAddress(target: StagingTarget, signed: string): string
  /** Path and query of a presigned address, and its end in Unix milliseconds. */
  presign(grant: PresignedGrant): { readonly target: string; readonly expiresAt: number }
  /** The grant of a presigned address; undefined when it was forged, changed, expired or used with another method. */
  readPresigned(method: string, parameter: (name: string) => string): PresignedGrant | undefined
}

export function createSignatures(signingSecret: string, clock: Clock): Signatures {
  const sign = (kind: string, fields: readonly (string | number)[]): string =>
    // JSON separates the fields: two different lists are never written the same way.
    createHmac('sha256', signingSecret)
      .update(JSON.stringify([kind, ...fields]))
      .digest('base64url')
  const nowMs = (): number => clock.now().getTime()

  const signStaging = (target: StagingTarget, address: string, issuedAt: string): string =>
    sign('staging', [target.repository, target.branch, target.path, address, issuedAt])
  const signGrant = (grant: PresignedGrant, expiresAt: number): string =>
    sign('presigned', [
      grant.method,
      grant.repository,
      grant.physicalAddress,
      grant.checksum,
      grant.uploadId,
      grant.partNumber,
      expiresAt,
    ])

  return {
    signStagingAddress(target, address) {
      const issuedAt = nowMs().toString(36)
      return `${address},${issuedAt}.${signStaging(target, address, issuedAt)}`
    },

    checkStagingAddress(target, signed) {
      const comma = signed.lastIndexOf(',')
      if (comma < 0) throw new HttpProblem(400, 'address is not signed: link address invalid')
      const address = signed.slice(0, comma)
      const [issuedAt = '', signature = ''] = signed.slice(comma + 1).split('.')
      if (!sameText(signature, signStaging(target, address, issuedAt))) {
        throw new HttpProblem(400, 'invalid address signature: invalid address')
      }
      const ageMs = nowMs() - Number.parseInt(issuedAt, 36)
      if (ageMs > EMBEDDED_STAGING_ADDRESS_MS) throw new HttpProblem(400, 'link address expired')
      return address
    },

    presign(grant) {
      const expiresAt = nowMs() + EMBEDDED_PRESIGN_MS
      const query = new URLSearchParams({
        repository: grant.repository,
        address: grant.physicalAddress,
        checksum: grant.checksum,
        ...(grant.uploadId === '' ? {} : { upload: grant.uploadId, part: String(grant.partNumber) }),
        expires: String(expiresAt),
        signature: signGrant(grant, expiresAt),
      })
      return { target: `${PRESIGNED_PATH}?${query.toString()}`, expiresAt }
    },

    readPresigned(method, parameter) {
      if (method !== 'GET' && method !== 'PUT') return undefined
      const grant: PresignedGrant = {
        method,
        repository: parameter('repository'),
        physicalAddress: parameter('address'),
        checksum: parameter('checksum'),
        uploadId: parameter('upload'),
        partNumber: Number(parameter('part')),
      }
      const expiresAt = Number(parameter('expires'))
      if (!sameText(parameter('signature'), signGrant(grant, expiresAt))) return undefined
      return nowMs() < expiresAt ? grant : undefined
    },
  }
}
