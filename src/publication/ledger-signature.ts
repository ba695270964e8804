/**
 * Signatures of ledgers, with keys that the workers share: who may write to lakeFS, and has no key, can write no entry that is
 * adopted. Pure.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { MetadataKey } from './commit-metadata.ts'
import { sealedText } from './ledger.ts'
import type { Metadata } from './ports.ts'

/** By their ids; `use` signs, all of them are accepted. */
export interface LedgerKeys {
  readonly use: string
  readonly keys: ReadonlyMap<string, Uint8Array>
}

export type SignatureVerdict = 'valid' | 'unsigned' | 'unknown-key' | 'forged'

const SIGNATURE = 'publish.signature' satisfies MetadataKey

/** Adds the signature to a ledger that is written. */
export function signLedger(metadata: Metadata, { use, keys }: LedgerKeys): Metadata {
  const key = keys.get(use)
  return key === undefined ? metadata : { ...metadata, [SIGNATURE]: `${use}:${signatureOf(metadata, key)}` }
}

/** Without keys a signature cannot be checked: its key is unknown. */
export function judgeSignature(metadata: Metadata, known: LedgerKeys | undefined): SignatureVerdict {
  const found = Object.hasOwn(metadata, SIGNATURE) ? metadata[SIGNATURE] : undefined
  if (found === undefined) return known === undefined ? 'valid' : 'unsigned'
  const at = found.lastIndexOf(':')
  const key = known?.keys.get(found.slice(0, at))
  if (key === undefined) return 'unknown-key'
  const given = Buffer.from(found.slice(at + 1))
  const expected = Buffer.from(signatureOf(metadata, key))
  return given.length === expected.length && timingSafeEqual(given, expected) ? 'valid' : 'forged'
}

function signatureOf(metadata: Metadata, key: Uint8Array): string {
  // The prefix: a key that signs something else, too, makes no signature of a ledger by it.
  return createHmac('sha256', key)
    .update(`perago ledger\n${sealedText(metadata)}`)
    .digest('hex')
}
