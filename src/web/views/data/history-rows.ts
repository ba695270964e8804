/** The rows of a branch: its commits, beside them what has left the line, and each publication as one. */

import { Lanes, type LaneRow } from './lanes.ts'
import { readPublication, type CommitLike, type Publication } from './publication.ts'

/** `line`: the branch holds it; the others hang beside the commit that they were made from. */
export type RowKind = 'line' | 'superseded' | 'refused' | 'staged'

/** A commit beside the line, and the branch or tag that keeps it. */
export interface Aside<C extends CommitLike> {
  readonly commit: C
  readonly kind: Exclude<RowKind, 'line'>
  readonly keptBy: string
  readonly publication?: Publication
}

export interface HistoryRow<C extends CommitLike> {
  readonly commit: C
  readonly kind: RowKind
  readonly publication: Publication
  readonly keptBy?: string
  /** Commits that are only how this publication came to be. */
  readonly folded: number
  readonly lanes: LaneRow
}

/** Goes on where the last call ended, if what it was given then is what this list begins with. */
export class HistoryRows<C extends CommitLike> {
  readonly #isOwnLine: boolean
  #commits: readonly C[] = []
  #asides: readonly Aside<C>[] = []
  #lanes = new Lanes()
  #rows: HistoryRow<C>[] = []
  #byParent = new Map<string, Aside<C>[]>()
  #onLine = new Set<string>()
  /** What is folded into a publication: the commit, and the run that made both. */
  #folded = new Map<string, string>()

  /** `isOwnLine`: what was merged is not in the list. */
  constructor({ isOwnLine }: { readonly isOwnLine: boolean }) {
    this.#isOwnLine = isOwnLine
  }

  of(commits: readonly C[], asides: readonly Aside<C>[]): readonly HistoryRow<C>[] {
    const known = this.#commits.length
    const goesOn =
      asides === this.#asides && commits.length >= known && commits[known - 1] === this.#commits[known - 1]
    if (!goesOn) this.#begin(asides, commits)
    for (const commit of commits.slice(goesOn ? known : 0)) this.#add(commit)
    this.#commits = commits
    // Another list each time, so that whoever compares lists sees that it grew.
    this.#rows = [...this.#rows]
    return this.#rows
  }

  #begin(asides: readonly Aside<C>[], commits: readonly C[]): void {
    const seen = new Set<string>()
    this.#asides = asides
    this.#lanes = new Lanes()
    this.#rows = []
    this.#folded = new Map()
    this.#onLine = new Set(commits.map(({ id }) => id))
    this.#byParent = new Map()
    for (const aside of asides) {
      const { id, parents } = aside.commit
      if (seen.has(id) || parents[0] === undefined) continue
      seen.add(id)
      this.#byParent.set(parents[0], [...(this.#byParent.get(parents[0]) ?? []), aside])
    }
  }

  #add(commit: C): void {
    this.#onLine.add(commit.id)
    const publication = readPublication(commit)
    if (this.#fold(commit, publication)) return
    this.#addAsides(commit.id)
    const [first, ...others] = commit.parents
    const isOwn = publication.run !== undefined && others.length > 0
    if (isOwn) for (const parent of others) this.#folded.set(parent, publication.run ?? '')
    const isStraight = isOwn || this.#isOwnLine
    const parents = isStraight && first !== undefined ? [first] : [...new Set(commit.parents)]
    const lanes = this.#lanes.add({ id: commit.id, parents })
    const folded = isOwn ? new Set(others.filter((parent) => parent !== first)).size : 0
    this.#rows.push({ commit, kind: 'line', publication, folded, lanes })
  }

  /** Whether the commit is only how a publication above it came to be. */
  #fold({ id, parents }: C, { run }: Publication): boolean {
    const of = this.#folded.get(id)
    if (of === undefined || of !== run) return false
    for (const parent of parents.slice(1)) this.#folded.set(parent, of)
    return true
  }

  /** Above the commit that they were made from, the last made first. */
  #addAsides(parent: string): void {
    const asides = this.#byParent.get(parent) ?? []
    this.#byParent.delete(parent)
    for (const { commit, kind, keptBy, publication = readPublication(commit) } of asides) {
      // A branch that went on after all, or a tag on what it holds.
      if (this.#onLine.has(commit.id)) continue
      this.#addAsides(commit.id)
      const lanes = this.#lanes.add({ id: commit.id, parents: [parent], isAside: true })
      this.#rows.push({ commit, kind, publication, keptBy, folded: 0, lanes })
    }
  }
}
