/** Entry of a thread that hashes files while they are written. */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { invariant, messageOf } from '../../base/errors.ts'
import { WORKSPACE_HASH_BUFFER_BYTES } from '../limits.ts'
import type { FromHashThread, ToHashThread } from './hash-beside.ts'

interface Hashing {
  readonly file: number
  readonly hash: Hash
  doneBytes: number
}

const port = parentPort
invariant(port !== null, 'this is a thread')
const buffer = Buffer.allocUnsafe(WORKSPACE_HASH_BUFFER_BYTES)
const all = new Map<number, Hashing>()

port.on('message', (message: ToHashThread) => {
  try {
    act(message)
  } catch (error) {
    drop(message.id)
    answer({ id: message.id, error: messageOf(error) })
  }
})

function act(message: ToHashThread): void {
  const { id } = message
  if (message.type === 'open')
    all.set(id, { file: openSync(message.path, 'r'), hash: createHash('md5'), doneBytes: 0 })
  const hashing = all.get(id)
  // It failed before, which was reported.
  if (hashing === undefined) return
  if (message.type === 'reach') goOn(hashing, message.bytes)
  if (message.type === 'digest') {
    goOn(hashing, message.bytes)
    answer({ id, md5: hashing.hash.digest('hex') })
    drop(id)
  }
  if (message.type === 'drop') drop(id)
}

function goOn(hashing: Hashing, toBytes: number): void {
  while (hashing.doneBytes < toBytes) {
    const wanted = Math.min(buffer.length, toBytes - hashing.doneBytes)
    const read = readSync(hashing.file, buffer, 0, wanted, hashing.doneBytes)
    if (read === 0) throw new Error(`the file ends after ${hashing.doneBytes} bytes`)
    hashing.hash.update(buffer.subarray(0, read))
    hashing.doneBytes += read
  }
}

function drop(id: number): void {
  const hashing = all.get(id)
  if (hashing === undefined) return
  all.delete(id)
  closeSync(hashing.file)
}

function answer(message: FromHashThread): void {
  port?.postMessage(message)
}
