/**
 * One object in the content cache: its bytes, followed by a checksum of them. The checksum is in the same file, so there is
 * no index that could disagree. Copying the file and cutting off its end copies the object, without copying its blocks on a
 * file system that can share them.
 *
 * ```
 * bytes of the object · 16 bytes of magic · MD5 of the bytes · SHA-256 of everything before and the name of the entry
 * ```
 *
 * The name is under the checksum: an entry that got another's name is as bad as one that got another's bytes. An entry of an
 * earlier format, whose name was not, counts as absent and is replaced.
 */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { copyFile, open, type FileHandle } from 'node:fs/promises'
import { WORKSPACE_HASH_BUFFER_BYTES, WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { readFileFacts, sameFacts } from '../comparing/file-facts.ts'
import { looksLikeMd5 } from '../manifest.ts'
import type { SourceObject } from '../ports.ts'
import { readUnchanged, type KnownFile } from '../comparing/read-unchanged.ts'
import { writeNewFile } from '../laying-out/write-files.ts'

const MAGIC = Buffer.from('perago-object-2\n')
const EARLIER_MAGIC = Buffer.from('perago-object-1\n')
const MD5_BYTES = 16
const SHA256_BYTES = 32
/** How many bytes an entry has in addition to its object. */
export const ENTRY_END_BYTES = MAGIC.length + MD5_BYTES + SHA256_BYTES

const COPY_MODE = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL

const KEY = /^(?:md5-[0-9a-f]{32}|at-[0-9a-f]{64})-\d{1,16}$/

/** Whether a file has the name of an entry; files with other names are left alone. */
export function isEntryName(name: string): boolean {
  return KEY.test(name)
}

/**
 * The name for the content of an object; `undefined` if the content cannot be identified without reading it.
 *
 * 1. By a checksum in the form of an MD5 and the size, in any repository. The MD5 is compared with the bytes before they are
 *    added.
 * 2. Any other checksum may say nothing about the content (it may be a version number), so the name also has the address of
 *    the bytes in the object store.
 */
export function entryNameOf({ checksum, sizeBytes, address }: SourceObject): string | undefined {
  if (sizeBytes === 0) return undefined
  if (looksLikeMd5(checksum)) return `md5-${checksum}-${sizeBytes}`
  if (address === undefined) return undefined
  const known = createHash('sha256').update(`${address}\0${checksum}`).digest('hex')
  return `at-${known}-${sizeBytes}`
}

/** The size of the object in an entry, by the name of the entry. */
export function sizeOfEntryName(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1))
}

/** An entry is not what was added under its name. */
export class UnusableEntryError extends Error {
  /** Written by an earlier version: no sign of a failing disk. */
  readonly isEarlierFormat: boolean

  constructor(message: string, { isEarlierFormat = false } = {}) {
    super(message)
    this.isEarlierFormat = isEarlierFormat
  }
}

export interface EntryUse {
  /** The name that the entry was added under. */
  readonly name: string
  readonly signal: AbortSignal | undefined
}

/**
 * Makes a new file with the object of an entry, and returns its MD5. Throws `UnusableEntryError` or an error of the file
 * system; a part of the file may be left then.
 */
export async function copyOut(entry: string, path: string, { name, signal }: EntryUse): Promise<string> {
  const sizeBytes = sizeOfEntryName(name)
  if (sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES) {
    const whole = readWhole(entry, sizeBytes + ENTRY_END_BYTES)
    const hash = createHash('sha256').update(whole.subarray(0, sizeBytes))
    const md5 = checkEnd(hash, whole.subarray(sizeBytes), name)
    writeNewFile(path, whole.subarray(0, sizeBytes))
    return md5
  }
  await copyFile(entry, path, COPY_MODE)
  const file = await open(path, 'r+')
  try {
    // The copy is checked, not the entry: it is what the task will read.
    const md5 = await checkContent(file, { name, signal })
    await file.truncate(sizeBytes)
    return md5
  } finally {
    await file.close()
  }
}

/** Throws `UnusableEntryError` unless the entry is what was added under its name. */
export async function checkEntry(entry: string, use: EntryUse): Promise<void> {
  const file = await open(entry, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    await checkContent(file, use)
  } finally {
    await file.close()
  }
}

/** Compares the content of a whole entry with its end, and returns the MD5 in it. */
async function checkContent(file: FileHandle, { name, signal }: EntryUse): Promise<string> {
  const sizeBytes = sizeOfEntryName(name)
  if ((await file.stat()).size !== sizeBytes + ENTRY_END_BYTES)
    throw new UnusableEntryError('its size is wrong')
  const hash = createHash('sha256')
  await readThrough(file, sizeBytes, { signal, onPiece: (piece) => hash.update(piece) })
  const end = Buffer.alloc(ENTRY_END_BYTES)
  await file.read(end, 0, end.length, sizeBytes)
  return checkEnd(hash, end, name)
}

/**
 * Writes an entry with the content of a file; `false` if the file has changed since it was read, or its MD5 is another.
 * Throws an error of the file system; a part of the entry may be left then.
 */
export async function copyIn(
  file: KnownFile,
  entry: string,
  { name, md5, signal }: EntryUse & { readonly md5: string },
): Promise<boolean> {
  const { sizeBytes } = file.facts
  if (sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES) {
    const content = readUnchanged(file)
    if (createHash('md5').update(content).digest('hex') !== md5) return false
    const end = makeEnd(createHash('sha256').update(content), { md5, name })
    writeNewFile(entry, Buffer.concat([content, end]))
    return true
  }
  const found = readFileFacts(file.localPath)
  if (found === undefined || !sameFacts(found, file.facts)) return false
  await copyFile(file.localPath, entry, COPY_MODE)
  const copy = await open(entry, 'r+')
  try {
    if ((await copy.stat()).size !== sizeBytes) return false
    const [content, sum] = [createHash('md5'), createHash('sha256')]
    const onPiece = (piece: Uint8Array): void => {
      content.update(piece)
      sum.update(piece)
    }
    await readThrough(copy, sizeBytes, { signal, onPiece })
    if (content.digest('hex') !== md5) return false
    const end = makeEnd(sum, { md5, name })
    await copy.write(end, 0, end.length, sizeBytes)
    return true
  } finally {
    await copy.close()
  }
}

function makeEnd(hash: Hash, { md5, name }: { readonly md5: string; readonly name: string }): Buffer {
  const head = Buffer.concat([MAGIC, Buffer.from(md5, 'hex')])
  return Buffer.concat([head, hash.update(head).update(name).digest()])
}

/** Compares the end of an entry with the hash of its content, and returns the MD5 in it. */
function checkEnd(hash: Hash, end: Uint8Array, name: string): string {
  const head = end.subarray(0, MAGIC.length + MD5_BYTES)
  if (EARLIER_MAGIC.compare(head, 0, MAGIC.length) === 0)
    throw new UnusableEntryError('an earlier version wrote it', { isEarlierFormat: true })
  if (MAGIC.compare(head, 0, MAGIC.length) !== 0)
    throw new UnusableEntryError('it does not end like an entry')
  if (hash.update(head).update(name).digest().compare(end, head.length) !== 0)
    throw new UnusableEntryError('its bytes or its name have changed')
  return Buffer.from(head.subarray(MAGIC.length)).toString('hex')
}

function readWhole(path: string, wantedBytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    if (fstatSync(file).size !== wantedBytes) throw new UnusableEntryError('its size is wrong')
    const content = Buffer.allocUnsafeSlow(wantedBytes)
    for (let filled = 0; filled < wantedBytes;) {
      const bytesRead = readSync(file, content, filled, wantedBytes - filled, filled)
      if (bytesRead === 0) throw new UnusableEntryError('it became shorter')
      filled += bytesRead
    }
    return content
  } finally {
    closeSync(file)
  }
}

async function readThrough(
  file: FileHandle,
  sizeBytes: number,
  to: { readonly signal: AbortSignal | undefined; readonly onPiece: (piece: Uint8Array) => void },
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(WORKSPACE_HASH_BUFFER_BYTES, sizeBytes))
  for (let position = 0; position < sizeBytes;) {
    to.signal?.throwIfAborted()
    const wanted = Math.min(buffer.length, sizeBytes - position)
    const { bytesRead } = await file.read(buffer, 0, wanted, position)
    if (bytesRead === 0) throw new UnusableEntryError('it became shorter')
    to.onPiece(buffer.subarray(0, bytesRead))
    position += bytesRead
  }
}
