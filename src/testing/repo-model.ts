/**
 * A model of one lakeFS repository: trees, commits, branches with uncommitted objects, tags, three-way and squash merges,
 * resets. Synchronous; every method is one step on the server.
 */

import { hash } from 'node:crypto'
import { commitRef, type BranchName, type CommitRef, type MetaRangeId } from '../base/ids.ts'
import type { Change, CommitRecord, Metadata, ObjectStat } from '../publication/ports.ts'

export interface StoredObject extends ObjectStat {
  readonly bytes: Uint8Array
}

export type Tree = ReadonlyMap<string, StoredObject>

interface ModelBranch {
  head: CommitRef
  readonly hidden: boolean
  /** `undefined`: deleted. */
  readonly uncommitted: Map<string, StoredObject | undefined>
}

type CommitFields = Omit<CommitRecord, 'ref'>

export type MergeVerdict = { readonly tree: Tree } | { readonly refused: 'conflict' | 'nothing-to-merge' }

const COMMITTER = 'scripted'

export class RepoModel {
  readonly #commits = new Map<CommitRef, { readonly record: CommitRecord; readonly tree: Tree }>()
  readonly #trees = new Map<MetaRangeId | '', Tree>()
  readonly branches = new Map<BranchName, ModelBranch>()
  readonly tags = new Map<string, CommitRef>()
  readonly #now: () => Date

  constructor(now: () => Date) {
    this.#now = now
  }

  commit(ref: CommitRef): CommitRecord | undefined {
    return this.#commits.get(ref)?.record
  }

  /** For a branch with its uncommitted objects, as in lakeFS. */
  treeAt(at: CommitRef | BranchName): Tree | undefined {
    const branch = this.branches.get(at as BranchName)
    if (branch === undefined) return this.#commits.get(at as CommitRef)?.tree
    const tree = new Map(this.#treeOf(branch.head))
    for (const [path, object] of branch.uncommitted) {
      if (object === undefined) tree.delete(path)
      else tree.set(path, object)
    }
    return sortTree(tree)
  }

  headOf(at: CommitRef | BranchName): CommitRef | undefined {
    return (
      this.branches.get(at as BranchName)?.head ??
      (this.#commits.has(at as CommitRef) ? (at as CommitRef) : undefined)
    )
  }

  /** Adds a commit without moving any branch. */
  addCommit(of: {
    readonly parents: readonly CommitRef[]
    readonly message: string
    readonly metadata: Metadata
    readonly tree: Tree
  }): CommitRecord {
    const { parents, message, metadata, tree } = of
    const generation = 1 + Math.max(0, ...parents.map((ref) => this.commit(ref)?.generation ?? 0))
    // The first commit of a repository has no tree.
    const metaRange = parents.length === 0 ? '' : metaRangeOf(tree)
    this.#trees.set(metaRange, tree)
    const fields = { parents, message, metadata, committer: COMMITTER, metaRange, generation }
    return this.addRecord({ ...fields, createdAt: this.#seconds() }, tree)
  }

  /** Adds a commit as it is described. */
  addRecord(fields: CommitFields, tree: Tree): CommitRecord {
    const ref = refOf(fields)
    // The same fields twice are the same commit.
    const known = this.commit(ref)
    if (known !== undefined) return known
    const record = { ref, ...fields }
    this.#commits.set(ref, { record, tree })
    return record
  }

  treeOfMetaRange(metaRange: MetaRangeId): Tree | undefined {
    return this.#trees.get(metaRange)
  }

  *ancestors(from: CommitRef, options: { readonly firstParent: boolean }): Iterable<CommitRecord> {
    const waiting = new Map<CommitRef, CommitRecord>()
    const add = (ref: CommitRef): void => {
      const record = this.commit(ref)
      if (record !== undefined) waiting.set(ref, record)
    }
    add(from)
    while (waiting.size > 0) {
      const newest = [...waiting.values()].reduce((a, b) => (b.generation > a.generation ? b : a))
      waiting.delete(newest.ref)
      yield newest
      for (const parent of options.firstParent ? newest.parents.slice(0, 1) : newest.parents) add(parent)
    }
  }

  isAncestor(ref: CommitRef, of: CommitRef): boolean {
    for (const commit of this.ancestors(of, { firstParent: false })) if (commit.ref === ref) return true
    return false
  }

  diff(from: Tree, to: Tree): Change[] {
    const changes: Change[] = []
    for (const path of pathsOf(from, to)) {
      const [before, after] = [from.get(path), to.get(path)]
      if (isSame(before, after)) continue
      const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
      changes.push({ path, change, sizeBytes: (after ?? before)?.sizeBytes })
    }
    return changes
  }

  /** Three-way merge: applies the changes of the source since the common base to the destination. */
  mergeTrees(source: CommitRef, into: CommitRef, prefer?: 'source-wins' | 'dest-wins'): MergeVerdict {
    const base = this.#treeOf(this.#mergeBase(source, into))
    const [theirs, ours] = [this.#treeOf(source), this.#treeOf(into)]
    const tree = new Map(ours)
    let changed = false
    for (const path of pathsOf(base, theirs)) {
      const [before, wanted, there] = [base.get(path), theirs.get(path), ours.get(path)]
      if (isSame(before, wanted)) continue
      changed = true
      const isConflict = !isSame(before, there) && !isSame(wanted, there)
      if (isConflict && prefer === undefined) return { refused: 'conflict' }
      if (isConflict && prefer === 'dest-wins') continue
      if (wanted === undefined) tree.delete(path)
      else tree.set(path, wanted)
    }
    return changed ? { tree: sortTree(tree) } : { refused: 'nothing-to-merge' }
  }

  object(
    path: string,
    bytes: Uint8Array,
    of: { readonly contentType?: string | undefined; readonly metadata?: Metadata | undefined },
  ): StoredObject {
    return {
      path,
      bytes,
      checksum: hash('md5', bytes),
      sizeBytes: bytes.byteLength,
      modifiedAt: this.#seconds(),
      contentType: of.contentType ?? 'application/octet-stream',
      metadata: of.metadata ?? {},
    }
  }

  #treeOf(ref: CommitRef | undefined): Tree {
    return (ref === undefined ? undefined : this.#commits.get(ref)?.tree) ?? new Map()
  }

  #mergeBase(a: CommitRef, b: CommitRef): CommitRef | undefined {
    const known = new Set([...this.ancestors(a, { firstParent: false })].map(({ ref }) => ref))
    for (const { ref } of this.ancestors(b, { firstParent: false })) if (known.has(ref)) return ref
    return undefined
  }

  #seconds(): Date {
    return new Date(Math.floor(this.#now().getTime() / 1000) * 1000)
  }
}

/** Sorted by the bytes of the path, as lakeFS lists. */
export function sortTree(tree: Tree): Tree {
  return new Map([...tree].sort(([a], [b]) => compareBytes(a, b)))
}

/** Content, content type and user metadata are compared. */
function isSame(a: StoredObject | undefined, b: StoredObject | undefined): boolean {
  return (
    a?.checksum === b?.checksum &&
    a?.contentType === b?.contentType &&
    JSON.stringify(a?.metadata) === JSON.stringify(b?.metadata)
  )
}

function pathsOf(a: Tree, b: Tree): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].sort(compareBytes)
}

function metaRangeOf(tree: Tree): MetaRangeId | '' {
  const entries = [...sortTree(tree).values()].map(({ path, checksum, contentType, metadata }) => [
    path,
    checksum,
    contentType,
    metadata,
  ])
  return hash('sha256', JSON.stringify(entries)) as MetaRangeId
}

/** Not the id that lakeFS would give: that takes several times as long, and nobody compares the two here. */
function refOf({ parents, message, metadata, committer, metaRange, createdAt }: CommitFields): CommitRef {
  const sorted = Object.entries(metadata).sort(([a], [b]) => compareBytes(a, b))
  const fields = [parents, message, sorted, committer, metaRange, createdAt.getTime()]
  return commitRef(hash('sha256', JSON.stringify(fields)))
}

/** In the order of their bytes in UTF-8: like the order of their characters, but for those beyond the basic plane. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (left === right) continue
    const [isLeftHigh, isRightHigh] = [isSurrogate(left), isSurrogate(right)]
    return isLeftHigh === isRightHigh ? left - right : isLeftHigh ? 1 : -1
  }
  return a.length - b.length
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xe000
}
