import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isIntact } from './blob-check.ts'
import { readJournals } from './blob-journal.ts'

export interface CheckedObjects {
  readonly count: number
  readonly bytes: number
  /** Names of damaged files. */
  readonly damaged: ReadonlySet<string>
  readonly intact: ReadonlySet<string>
}

/** Reads every object's bytes once. */
export async function checkObjects({
  objectsDir,
  incomingDir,
}: {
  readonly objectsDir: string
  readonly incomingDir: string
}): Promise<CheckedObjects> {
  const [damaged, intact] = [new Set<string>(), new Set<string>()]
  let bytes = 0
  // First: what a running server takes out of a journal has a file by then.
  for (const record of readJournals(incomingDir)) {
    if (intact.has(record.sha256)) continue
    intact.add(record.sha256)
    bytes += record.bytes.length
  }
  for await (const { name } of await opendir(objectsDir)) {
    // A file with another name is not ours.
    if (!/^[0-9a-f]{64}$/.test(name) || intact.has(name)) continue
    const file = join(objectsDir, name)
    const { size } = await stat(file)
    bytes += size
    const isSound = await isIntact({ file, sha256: name }, size)
    ;(isSound ? intact : damaged).add(name)
  }
  return { count: damaged.size + intact.size, bytes, damaged, intact }
}
