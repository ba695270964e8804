/**
 * The id of a commit: SHA-256 over typed, length-prefixed fields, the same that lakeFS computes, so that a client can
 * compute the id of a commit record before it sends it.
 *
 * Each field is a type byte and its content; lengths and numbers are 64-bit big-endian integers with a type byte and
 * a size byte of their own. The parents are hashed first, as an ordered list.
 */

import { createHash, type Hash } from 'node:crypto'

interface CommitContent {
  readonly committer: string
  readonly message: string
  readonly metaRangeId: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly metadata: Readonly<Record<string, string>>
  readonly parents: readonly string[]
}

const TYPE = { text: 1, integer: 2, list: 3, map: 4, bytes: 5 } as const
const SCHEME = 'commit:v1'

export function computeCommitId(commit: CommitContent): string {
  const parents = createHash('sha256').update(Buffer.of(TYPE.list))
  addInteger(parents, commit.parents.length)
  for (const parent of commit.parents) addText(parents, parent)
  const parentsDigest = parents.digest()

  const hash = createHash('sha256')
  for (const text of [SCHEME, commit.committer, commit.message, commit.metaRangeId]) addText(hash, text)
  addInteger(hash, commit.createdAt)
  const pairs = Object.entries(commit.metadata).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  )
  hash.update(Buffer.of(TYPE.map))
  addInteger(hash, pairs.length)
  for (const [key, value] of pairs) {
    addText(hash, key)
    addText(hash, value)
  }
  hash.update(Buffer.of(TYPE.bytes, 0))
  addInteger(hash, parentsDigest.length)
  return hash.update(parentsDigest).digest('hex')
}

function addText(hash: Hash, text: string): void {
  const bytes = Buffer.from(text, 'utf8')
  hash.update(Buffer.of(TYPE.text))
  addInteger(hash, bytes.length)
  hash.update(bytes)
}

function addInteger(hash: Hash, value: number): void {
  const bytes = Buffer.alloc(10)
  bytes[0] = TYPE.integer
  bytes[1] = 8
  bytes.writeBigInt64BE(BigInt(value), 2)
  hash.update(bytes)
}
