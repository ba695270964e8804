/** Walks over commits: the log, and the commit where two histories separated. */

import { requireCommit, requireStoredCommit, treeOf, type StoredCommit } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type LogRequest, type Page } from './engine.ts'
import { isSameEntry } from './entry-codec.ts'
import type { MetadataDb } from './metadata-db.ts'
import { resolveCommitId } from './refs.ts'
import { requireStored } from './repositories.ts'
import { toByteKey } from './tree/byte-key.ts'
import { diffTrees } from './tree/diff-trees.ts'
import { lookUp, type NodeStore } from './tree/node-store.ts'

/** Resolves ids, branches, tags, short ids and `^ ~ @` expressions; `$` is refused with `uncommitted-ref`. */
export function getCommit({ db }: EngineContext, repository: string, ref: string): Commit {
  const { rid } = requireStored(db, repository)
  return requireCommit(db, rid, resolveCommitId(db, rid, ref))
}

export function log(
  { db, nodes }: EngineContext,
  repository: string,
  ref: string,
  request: LogRequest,
): Page<Commit> {
  const { rid } = requireStored(db, repository)
  const idOf = (expression = ''): string | undefined =>
    expression === '' ? undefined : resolveCommitId(db, rid, expression)
  const from = resolveCommitId(db, rid, ref)
  const [stopAt, after] = [idOf(request.stopAt), idOf(request.after)]
  const isFiltered = request.objects.length > 0 || request.prefixes.length > 0
  const items: Commit[] = []
  let isBehind = after === undefined
  for (const commit of walkHistory(db, rid, {
    from,
    firstParent: request.firstParent,
  })) {
    if (isBehind && (!isFiltered || touches(db, nodes, { rid, commit, request }))) {
      if (items.length === request.amount) return { items, hasMore: true }
      items.push(commit)
    }
    if (commit.id === after) isBehind = true
    if (commit.id === stopAt) break
  }
  return { items, hasMore: false }
}

export function findMergeBase(
  { db }: EngineContext,
  repository: string,
  sourceRef: string,
  destinationRef: string,
): { source: string; destination: string; base: string } {
  const { rid } = requireStored(db, repository)
  // In this order, as lakeFS does: of two bad references it tells the second.
  const destination = resolveCommitId(db, rid, destinationRef)
  const source = resolveCommitId(db, rid, sourceRef)
  return { source, destination, base: findMergeBaseOf(db, rid, { source, destination }).id }
}

/** The youngest commit that both histories hold. */
export function findMergeBaseOf(
  db: MetadataDb,
  rid: number,
  ends: { readonly source: string; readonly destination: string },
): Commit {
  const SOURCE = 1
  const DESTINATION = 2
  const reachedFrom = new Map<string, number>()
  const queue = new CommitQueue(highestGenerationFirst)
  const reach = (id: string, from: number): void => {
    const before = reachedFrom.get(id)
    if (before === undefined) queue.push(requireStoredCommit(db, rid, id))
    reachedFrom.set(id, (before ?? 0) | from)
  }
  reach(ends.source, SOURCE)
  reach(ends.destination, DESTINATION)
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { commit } = next
    const from = reachedFrom.get(commit.id) ?? 0
    // Parents have a lower generation than their children, so by now everything that leads here has been seen.
    if (from === (SOURCE | DESTINATION)) return commit
    for (const parent of commit.parents) reach(parent, from)
  }
  throw new EngineError(
    'bad-argument',
    `commits ${ends.source} and ${ends.destination} have no history in common`,
  )
}

/** Each commit after one of its children, the latest first. */
function* walkHistory(
  db: MetadataDb,
  rid: number,
  walk: { readonly from: string; readonly firstParent: boolean },
): Generator<Commit> {
  const queue = new CommitQueue(latestFirst)
  const seen = new Set([walk.from])
  queue.push(requireStoredCommit(db, rid, walk.from))
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    yield next.commit
    const parents = walk.firstParent ? next.commit.parents.slice(0, 1) : next.commit.parents
    for (const parent of parents) {
      if (seen.has(parent)) continue
      seen.add(parent)
      queue.push(requireStoredCommit(db, rid, parent))
    }
  }
}

/** Whether a commit changed one of the objects, or anything below one of the prefixes. Merges are left out. */
function touches(
  db: MetadataDb,
  nodes: NodeStore,
  { rid, commit, request }: { readonly rid: number; readonly commit: Commit; readonly request: LogRequest },
): boolean {
  const [parentId, other] = commit.parents
  if (parentId === undefined || other !== undefined) return false
  const left = treeOf(requireCommit(db, rid, parentId))
  const right = treeOf(commit)
  if (left === right) return false
  const touchesObject = request.objects.some((path) => {
    const before = lookUp(nodes, left, toByteKey(path))
    const after = lookUp(nodes, right, toByteKey(path))
    return before === undefined || after === undefined ? before !== after : !isSameEntry(before, after)
  })
  return (
    touchesObject ||
    request.prefixes.some((prefix) => {
      const differences = diffTrees(nodes, { left, right }, isSameEntry)
      differences.seek(toByteKey(prefix))
      return differences.next()?.key.startsWith(toByteKey(prefix)) === true
    })
  )
}

/** Negative when the first one is to come first. */
type CommitOrder = (a: StoredCommit, b: StoredCommit) => number

/** As lakeFS shows a log. Its times are finer than seconds; of two equal ones ours puts the one stored last first. */
const latestFirst: CommitOrder = (a, b) => b.commit.createdAt - a.commit.createdAt || b.seq - a.seq

const highestGenerationFirst: CommitOrder = (a, b) =>
  b.commit.generation - a.commit.generation || latestFirst(a, b)

/** Few commits wait at a time: the open ends of a history. */
class CommitQueue {
  /** Sorted; the last one is the next to come. */
  readonly #sorted: StoredCommit[] = []
  readonly #order: CommitOrder

  constructor(order: CommitOrder) {
    this.#order = order
  }

  push(stored: StoredCommit): void {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#order(this.#sorted[middle] as StoredCommit, stored) > 0) low = middle + 1
      else high = middle
    }
    this.#sorted.splice(low, 0, stored)
  }

  pop(): StoredCommit | undefined {
    return this.#sorted.pop()
  }
}
