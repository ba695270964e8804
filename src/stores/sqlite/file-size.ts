import { statSync } from 'node:fs'

/** Of a database with what its log holds. */
export function sizeOfDatabase(file: string): number {
  return [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, bytes) => sum + bytes, 0)
}
