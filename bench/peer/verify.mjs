// What a run must have left in lakeFS; otherwise it does not count.
import { changedBy, contentOf, pathOf } from '../support/contents.mjs'
import { PREFIX, readBytes, sizeOf } from '../support/datasets.mjs'

export const PATCH_BYTES = 1024 * 1024
const READS_AT_ONCE = 16

/**
 * The branch holds one commit more for each seed that wrote, upon the dataset's; its head is what was reported; every
 * planned file differs from the dataset, and every file that differs holds the bytes it should. Answers how many files
 * differ that nobody changed: new objects with the old bytes.
 */
export async function verifyBranch({ data, branch, change, seeds, reportedRef }) {
  const { repo, ref, files } = data
  const fail = (what) => {
    throw new Error(`verify branch ${branch} of ${data.repository}: ${what}`)
  }
  const log = []
  for await (const commit of repo.log(branch, { firstParent: true, stopAt: ref })) log.push(commit.ref)
  const made = change === 'none' ? 0 : seeds.length
  if (log.at(-1) !== ref) fail('the commit it began with is not in its history')
  if (log.length !== made + 1) fail(`${log.length - 1} commits, not ${made}`)
  if (reportedRef !== undefined && reportedRef !== log[0])
    fail(`its head is ${log[0]}, reported was ${reportedRef}`)

  const sizes = new Map(Array.from({ length: files }, (_, index) => [pathOf(index), sizeOf(data, index)]))
  const changed = new Set(changedBy(change, files).map((index) => pathOf(index)))
  const differing = []
  for await (const { change: how, path } of repo.diff(ref, log[0])) {
    if (how !== 'changed') fail(`${path} was ${how}`)
    differing.push(path.slice(PREFIX.length))
  }
  const seen = new Set(differing)
  const missing = [...changed].filter((path) => !seen.has(path))
  if (missing.length > 0) fail(`${missing.length} files are as they were, such as ${missing[0]}`)

  const wantedOf = (path) => {
    if (!changed.has(path)) return contentOf(data.seed, path, sizes.get(path))
    if (change !== 'patch') return contentOf(seeds.at(-1), path, sizes.get(path))
    const wanted = contentOf(data.seed, path, sizes.get(path))
    contentOf(seeds.at(-1), path, PATCH_BYTES).copy(wanted)
    return wanted
  }
  await verifyBytes({ repo, ref: log[0], paths: differing, wantedOf })
  return differing.length - changed.size
}

/** The branch holds exactly these files, each with its bytes. */
export async function verifyFilled({ repo, branch, files, sizeBytes, seed }) {
  const { head } = await repo.readBranch(branch)
  const found = []
  for await (const { path } of repo.list(head, { prefix: PREFIX })) found.push(path.slice(PREFIX.length))
  if (found.length !== files) throw new Error(`verify ${branch}: ${found.length} files, not ${files}`)
  const wantedOf = (path) => contentOf(seed, path, sizeBytes)
  await verifyBytes({ repo, ref: head, paths: found, wantedOf })
}

async function verifyBytes({ repo, ref, paths, wantedOf }) {
  const left = paths.values()
  const lane = async () => {
    for (const path of left) {
      const found = await readBytes(repo, ref, `${PREFIX}${path}`)
      if (!found.equals(wantedOf(path)))
        throw new Error(`verify ${ref}: ${path} holds other bytes than it should`)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, lane))
}
