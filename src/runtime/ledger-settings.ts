/** What workers record with their publications, and whether they adopt them, as it is configured. */

import { InvalidError } from '../base/errors.ts'
import { readKeyPairs } from './configuration/key-pairs.ts'
import type { LedgerSettings } from '../worker/attempt/attempt-state.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'

const KEY_MIN_BYTES = 32

/** Throws where the keys cannot be read, before a worker takes its first task. */
export function ledgerOf({ ledger }: Pick<PeragoConfiguration, 'ledger'>): LedgerSettings {
  const onRetry = ledger?.onRetry ?? 'replace'
  if (ledger?.keys === undefined) return { onRetry }
  const pairs = readKeyPairs(ledger.keys)
  const [first] = pairs ?? []
  if (
    pairs === undefined ||
    first === undefined ||
    pairs.some(([id, key]) => key.byteLength < KEY_MIN_BYTES || id.includes(':'))
  )
    throw new InvalidError('runtime/bad-ledger-keys', 'read ledger.keys: each must have the form ID=BASE64', {
      next: 'Write each key as an id without ":", "=" and at least 32 bytes in base64, separated by commas or line breaks.',
    })
  return { onRetry, keys: { use: first[0], keys: new Map(pairs) } }
}
