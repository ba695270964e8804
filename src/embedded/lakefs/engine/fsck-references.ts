/** Repositories → branches, tags and commits → trees → objects' bytes: who needs what is damaged or missing. */

import { join } from 'node:path'
import { messageOf } from '../../../base/errors.ts'
import { commitFromRow, findCommit, treeOf } from './commits.ts'
import type { Commit } from './engine.ts'
import { physicalAddressOf } from './entry-codec.ts'
import type { CheckedObjects } from './fsck-objects.ts'
import { TreeChecker } from './fsck-trees.ts'
import { RESTORE, type Damage, type Tell } from './fsck-damage.ts'
import { eachSummedRow } from './metadata-check.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, summedColumns, type RawRow } from './row-sums.ts'
import { SqliteNodeStore } from './sqlite-node-store.ts'
import { bytesToKey, fromByteKey } from './tree/byte-key.ts'

type Place = Pick<Damage, 'repository' | 'branch' | 'tag' | 'commit'>

const UPLOAD =
  'Upload the object again, to any path: the same content mends every entry that has it. Or restore the file from a copy.'
const DISCARD = 'Discard the uncommitted changes of the branch, or restore the data directory from a copy.'

interface Parts {
  readonly objects: CheckedObjects
  readonly objectsDir: string
  readonly tell: Tell
}

export function checkReferences(
  db: MetadataDb,
  parts: Parts,
): { readonly commits: number; readonly treeNodes: number; readonly named: ReadonlySet<string> } {
  const walk = new ReferenceWalk(db, parts)
  walk.run()
  return { commits: walk.commits, treeNodes: walk.treeNodes, named: walk.named }
}

class ReferenceWalk {
  commits = 0
  /** Damaged or missing objects that something refers to. */
  readonly named = new Set<string>()
  readonly #db: MetadataDb
  readonly #parts: Parts
  readonly #trees: TreeChecker
  readonly #repositories = new Map<number, string>()
  /** Told already, with a branch or tag or an older commit. */
  readonly #told = new Set<string>()

  constructor(db: MetadataDb, parts: Parts) {
    this.#db = db
    this.#parts = parts
    this.#trees = new TreeChecker(new SqliteNodeStore(db), (value) => this.#judge(value))
  }

  get treeNodes(): number {
    return this.#trees.nodesRead
  }

  run(): void {
    this.#each('repositories', (row: { rid: number; name: string; deleted: number }) => {
      if (row.deleted === 0) this.#repositories.set(row.rid, row.name)
    })
    const branches = new Map<number, Place>()
    this.#each('branches', (row: { bid: number; rid: number; name: string; commit_id: string }) => {
      const place = this.#placeOf(row.rid, { branch: row.name, commit: row.commit_id })
      if (place === undefined) return
      branches.set(row.bid, place)
      this.#checkHead(row, place)
    })
    this.#each('tags', (row: { rid: number; name: string; commit_id: string }) => {
      const place = this.#placeOf(row.rid, { tag: row.name, commit: row.commit_id })
      if (place !== undefined) this.#checkHead(row, place)
    })
    eachSummedRow(this.#db, 'staged', (row) => this.#checkStaged(row, branches.get(Number(row['bid']))))
    eachSummedRow(this.#db, 'commits', (row) => this.#checkCommit(row))
  }

  /** Undamaged rows only: the others were told. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- names the columns where they are asked for
  #each<Row>(table: 'repositories' | 'branches' | 'tags', visit: (row: Row) => void): void {
    eachSummedRow(this.#db, table, (raw) => {
      let row: Row
      try {
        row = checkRow<Row>(this.#db, table, raw)
      } catch {
        return
      }
      visit(row)
    })
  }

  #placeOf(rid: number, more: Place): Place | undefined {
    const repository = this.#repositories.get(rid)
    return repository === undefined ? undefined : { repository, ...more }
  }

  #checkHead(row: { readonly rid: number; readonly commit_id: string }, place: Place): void {
    const commit = findIntact(this.#db, row)
    if (commit === undefined) {
      this.#parts.tell({
        kind: 'commit',
        file: this.#db.file,
        ...place,
        what: 'its commit is damaged or missing',
        next: RESTORE,
      })
    } else this.#checkTree(commit, place)
  }

  #checkStaged(raw: RawRow, place: Place | undefined): void {
    if (place === undefined) return
    const key = raw['key']
    const path = Buffer.isBuffer(key) ? fromByteKey(bytesToKey(key)) : undefined
    const where = { ...place, ...(path === undefined ? {} : { path }), isUncommitted: true as const }
    let value: Buffer | null
    try {
      value = checkRow<{ value: Buffer | null }>(this.#db, 'staged', raw).value
    } catch (error) {
      this.#parts.tell({
        kind: 'metadata',
        file: this.#db.file,
        ...where,
        what: messageOf(error),
        next: DISCARD,
      })
      return
    }
    const judged = value === null ? undefined : this.#judge(value)
    if (judged !== undefined) this.#parts.tell({ ...this.#objectDamage(judged), ...where })
  }

  #checkCommit(raw: RawRow): void {
    const repository = this.#repositories.get(Number(raw['rid']))
    if (repository === undefined) return
    this.commits += 1
    let commit: Commit
    try {
      commit = commitFromRow(this.#db, raw)
    } catch (error) {
      this.#parts.tell({
        kind: 'commit',
        file: this.#db.file,
        repository,
        what: messageOf(error),
        next: RESTORE,
      })
      return
    }
    this.#checkTree(commit, { repository, commit: commit.id })
  }

  /** A commit that no branch or tag names is told once for each path, not for each commit that has it. */
  #checkTree(commit: Commit, place: Place): void {
    const isHead = place.branch !== undefined || place.tag !== undefined
    for (const lost of this.#trees.lostPaths(treeOf(commit))) {
      const known = JSON.stringify([place.repository, lost.path, lost.sha256 ?? lost.what])
      if (!isHead && this.#told.has(known)) continue
      this.#told.add(known)
      const where = { ...place, ...(lost.path === undefined ? {} : { path: lost.path }) }
      this.#parts.tell(
        lost.sha256 === undefined
          ? { kind: 'tree', file: this.#db.file, ...where, what: lost.what, next: RESTORE }
          : { ...this.#objectDamage({ sha256: lost.sha256, what: lost.what }), ...where },
      )
    }
  }

  #findReserved(address: string): string | undefined {
    const sql = `SELECT ${summedColumns('addresses')} FROM addresses WHERE address = ?`
    const raw = this.#db.get<RawRow>(sql, address)
    try {
      return raw && checkRow<{ sha256: string }>(this.#db, 'addresses', raw).sha256
    } catch {
      // The row was told already.
      return undefined
    }
  }

  #objectDamage(judged: { readonly sha256: string; readonly what: string }): Damage {
    return {
      kind: 'object',
      file: join(this.#parts.objectsDir, judged.sha256),
      what: judged.what,
      next: UPLOAD,
    }
  }

  /** Undefined also for bytes that were never here: an address that was linked without an upload. */
  #judge(value: Buffer): { readonly sha256: string; readonly what: string } | undefined {
    const address = physicalAddressOf(value)
    const byContent = /\/data\/([0-9a-f]{64})$/.exec(address)?.[1]
    const sha256 = byContent ?? this.#findReserved(address)
    if (sha256 === undefined || this.#parts.objects.intact.has(sha256)) return undefined
    this.named.add(sha256)
    const isDamaged = this.#parts.objects.damaged.has(sha256)
    return { sha256, what: `the stored bytes are ${isDamaged ? 'damaged' : 'missing'}` }
  }
}

function findIntact(
  db: MetadataDb,
  row: { readonly rid: number; readonly commit_id: string },
): Commit | undefined {
  try {
    return findCommit(db, row.rid, row.commit_id)
  } catch {
    return undefined
  }
}
