/**
 * The key pair of a server, and the secret it signs with. Stored beside the data, readable only by its owner.
 * Made once; a file that cannot be read is named in an error and never replaced.
 */

import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { InvalidError, messageOf } from '../../base/errors.ts'
import { makePrivate } from './private-files.ts'
import { writeDurably } from './write-durably.ts'

const CREDENTIALS_FILE = 'credentials.json'

export interface KeyPair {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

interface ServerCredentials extends KeyPair {
  readonly signingSecret: string
  /** True when this call made the key pair: the only time to show it. */
  readonly generated: boolean
  readonly warnings: readonly string[]
}

interface StoredCredentials {
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly signingSecret: string
}

/** Given keys are used and not stored; otherwise the stored ones; otherwise new ones, stored when there is a directory. */
export async function loadCredentials(options: {
  readonly dataDir: string | undefined
  readonly given: KeyPair | undefined
}): Promise<ServerCredentials> {
  if (options.dataDir === undefined) {
    const pair = options.given ?? generatePair()
    return { ...pair, signingSecret: newSecret(), generated: options.given === undefined, warnings: [] }
  }
  const file = join(options.dataDir, CREDENTIALS_FILE)
  const stored = await readStored(file)
  const signingSecret = stored?.signingSecret ?? newSecret()
  const warnings = stored === undefined ? [] : closeToOthers(file)
  const pair = options.given ?? storedPair(stored)
  if (pair !== undefined) {
    if (stored === undefined) await writeStored(file, { signingSecret })
    return { ...pair, signingSecret, generated: false, warnings }
  }
  const made = generatePair()
  await writeStored(file, { ...made, signingSecret })
  return { ...made, signingSecret, generated: true, warnings }
}

/** The key pair stored in a data directory, to show it again; `undefined` when there is none. */
export async function readStoredKeyPair(dataDir: string): Promise<KeyPair | undefined> {
  return storedPair(await readStored(join(dataDir, CREDENTIALS_FILE)))
}

/** Whom the file with the key pair belongs to, and who else may read it; `undefined` when there is none. */
export async function readCredentialsAccess(
  dataDir: string,
): Promise<{ readonly file: string; readonly uid: number; readonly isOpen: boolean } | undefined> {
  const file = join(dataDir, CREDENTIALS_FILE)
  try {
    const { uid, mode } = await stat(file)
    return { file, uid, isOpen: (mode & 0o077) !== 0 }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, messageOf(error), error)
  }
}

/** In the form clients expect of lakeFS keys. */
function generatePair(): KeyPair {
  const id = [...randomBytes(16)].map((byte) => KEY_ID_ALPHABET[byte % KEY_ID_ALPHABET.length]).join('')
  return { accessKeyId: `AKIAJ${id}`, secretAccessKey: randomBytes(30).toString('base64url') }
}

const KEY_ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

function storedPair(stored: StoredCredentials | undefined): KeyPair | undefined {
  if (stored?.accessKeyId === undefined || stored.secretAccessKey === undefined) return undefined
  return { accessKeyId: stored.accessKeyId, secretAccessKey: stored.secretAccessKey }
}

async function readStored(file: string): Promise<StoredCredentials | undefined> {
  let content: string
  try {
    content = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, messageOf(error), error)
  }
  let value: Partial<Record<keyof StoredCredentials, unknown>>
  try {
    value = JSON.parse(content) as typeof value
  } catch (error) {
    throw unreadable(file, 'it is not JSON', error)
  }
  const { accessKeyId, secretAccessKey, signingSecret } = value
  if (typeof signingSecret !== 'string' || signingSecret.length < 32)
    throw unreadable(file, 'it has no signingSecret')
  if (accessKeyId === undefined && secretAccessKey === undefined) return { signingSecret }
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') {
    throw unreadable(file, 'its key pair is incomplete')
  }
  return { accessKeyId, secretAccessKey, signingSecret }
}

function writeStored(file: string, stored: StoredCredentials): Promise<void> {
  return writeDurably(file, `${JSON.stringify(stored, undefined, 2)}\n`)
}

/** What others may have read before is told. */
function closeToOthers(file: string): readonly string[] {
  const before = makePrivate(file)
  if (before === undefined) return []
  return [
    `${file} could be read by others (mode ${before.toString(8)}) and is private now: if somebody may have read it, delete it to have new credentials made`,
  ]
}

function unreadable(file: string, what: string, cause?: unknown): InvalidError {
  return new InvalidError('embedded/bad-credentials-file', `read ${file}: ${what}`, {
    next: 'Restore the file, or delete it to have new credentials generated.',
    cause,
  })
}
