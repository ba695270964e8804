// Files whose content follows from a seed, so that the expected publication is known.
import { createHash } from 'node:crypto'

const SOME = 25

/** The path below the prefix; a hundred files to a folder. */
export function pathOf(index) {
  return `d${String(Math.floor(index / 100)).padStart(4, '0')}/f${String(index).padStart(6, '0')}.txt`
}

/** The indexes of the files that a change touches. */
export function changedBy(change, files) {
  if (change === 'last') return [files - 1]
  const count = { one: 1, patch: 1, some: SOME, all: files, none: 0 }[change]
  return Array.from({ length: count }, (_, index) =>
    change === 'some' ? Math.floor((index * files) / count) : index,
  )
}

/** Bytes that differ by seed and path. Written again in every language that a bench compares. */
export function contentOf(seed, path, sizeBytes) {
  const line = `${createHash('sha256').update(`${seed}:${path}`).digest('hex')}\n`
  return Buffer.alloc(sizeBytes, line)
}
