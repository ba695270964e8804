/**
 * The format of sealed values:
 *
 * ```text
 * 1 byte    0x50, plus 1 when compressed, plus 2 when encrypted
 * encrypted: 1 byte length of the key's id, the id, 12 bytes nonce, ciphertext, 16 bytes tag
 * else:      the value, or its deflated form
 * ```
 *
 * The bytes before the nonce and the entry's key are authenticated with the ciphertext: a value that was moved to another
 * key, or whose first bytes were changed, cannot be decrypted. So are further facts that stand beside the value, where there are any.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { InvalidError } from '../../base/errors.ts'
import { STORE_VALUE_MAX_BYTES } from '../../core/limits.ts'

export interface Seal {
  /** Every key that values may be encrypted with, by id; empty without encryption. */
  readonly keys: ReadonlyMap<string, Uint8Array>
  /** The id of the key that new values are encrypted with. */
  readonly use: string | undefined
  readonly compressFromBytes: number
}

const HEAD = 0x50
const COMPRESSED = 1
const ENCRYPTED = 2
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

export async function sealValue(
  seal: Seal,
  key: string,
  value: Uint8Array,
  beside = '',
): Promise<Uint8Array> {
  const shorter = value.byteLength >= seal.compressFromBytes ? await deflate(value) : undefined
  const isShorter = shorter !== undefined && shorter.byteLength < value.byteLength
  const body = isShorter ? shorter : value
  const flags = HEAD + (isShorter ? COMPRESSED : 0)
  const secret = seal.use === undefined ? undefined : seal.keys.get(seal.use)
  if (seal.use === undefined || secret === undefined) return Buffer.concat([Buffer.from([flags]), body])
  const id = Buffer.from(seal.use)
  const head = Buffer.concat([Buffer.from([flags + ENCRYPTED, id.length]), id])
  // Random nonces of 96 bits: one key is safe for about four thousand million values (NIST SP 800-38D, 8.3).
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.concat([head, Buffer.from(key + beside)]))
  return Buffer.concat([head, nonce, cipher.update(body), cipher.final(), cipher.getAuthTag()])
}

export async function openValue(
  seal: Seal,
  key: string,
  sealed: Uint8Array,
  beside = '',
): Promise<Uint8Array> {
  const flags = (sealed[0] ?? 0) - HEAD
  if (flags < 0 || flags > COMPRESSED + ENCRYPTED) {
    throw new InvalidError(
      'stores/not-sealed',
      `read ${JSON.stringify(key)}: its value is not encrypted or compressed by perago`,
      {
        details: { key },
        next: 'Open the store without encryption and compression, or export it and import it into a new one.',
      },
    )
  }
  const body = flags >= ENCRYPTED ? decrypt(seal, { key, beside }, sealed) : sealed.subarray(1)
  if (flags % ENCRYPTED !== COMPRESSED) return Uint8Array.from(body)
  try {
    return Uint8Array.from(await inflate(body, { maxOutputLength: STORE_VALUE_MAX_BYTES }))
  } catch (cause) {
    throw damaged(key, cause)
  }
}

/** The id of the key a value is encrypted with. */
export function keyIdOf(sealed: Uint8Array): string | undefined {
  if ((sealed[0] ?? 0) - HEAD < ENCRYPTED) return undefined
  return Buffer.from(sealed.subarray(2, 2 + (sealed[1] ?? 0))).toString()
}

function decrypt(
  seal: Seal,
  { key, beside }: { readonly key: string; readonly beside: string },
  sealed: Uint8Array,
): Buffer {
  const id = keyIdOf(sealed) ?? ''
  const secret = seal.keys.get(id)
  if (secret === undefined) {
    throw new InvalidError(
      'stores/unknown-key',
      `read ${JSON.stringify(key)}: it is encrypted with the key ${JSON.stringify(id)}, which is not configured`,
      {
        details: { key, keyId: id },
        next: 'Add this key; new values are encrypted with the current one.',
      },
    )
  }
  const headBytes = 2 + Buffer.byteLength(id)
  const nonce = sealed.subarray(headBytes, headBytes + NONCE_BYTES)
  const end = sealed.byteLength - TAG_BYTES
  try {
    const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.concat([sealed.subarray(0, headBytes), Buffer.from(key + beside)]))
    decipher.setAuthTag(sealed.subarray(end))
    return Buffer.concat([decipher.update(sealed.subarray(headBytes + NONCE_BYTES, end)), decipher.final()])
  } catch (cause) {
    throw damaged(key, cause)
  }
}

function damaged(key: string, cause: unknown): InvalidError {
  return new InvalidError(
    'stores/damaged',
    `read ${JSON.stringify(key)}: its value was changed outside perago, or the encryption key is wrong`,
    {
      details: { key },
      next: 'Check the key; if it is right, restore the value from a backup.',
      cause,
    },
  )
}
