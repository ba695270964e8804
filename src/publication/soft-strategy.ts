/**
 * Publishing on any lakeFS server: read, decide, act, and look at what was made.
 *
 * A merge that lands on a commit which came in between is found by its parent, and nothing is lost. A move is such a merge too,
 * of a claim, and only a claim that stands on the expected head is collapsed. Where the server takes no records of commits, the
 * branch is reset, which drops a commit that comes between the look and the reset.
 */

import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { errorKindOf } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import {
  collapse,
  generationAbove,
  mergeOrLook,
  plain,
  readMerged,
  readRequired,
  takesReset,
  writeDetached,
} from './claimed-move.ts'
import { readSettledHead } from './claims.ts'
import type { MetadataKey } from './commit-metadata.ts'
import { CLAIM_WIDTH_MIN, CLAIM_WIDTHS } from './limits.ts'
import { mergeOnce } from './merge-once.ts'
import type { CallOptions, CommitRecord, Metadata, VersionedRepo } from './ports.ts'
import type { BranchWrite, GuardedOptions, MergeWrite, MoveWrite, PublishStrategy } from './strategy.ts'

export class SoftStrategy implements PublishStrategy {
  readonly strength = 'soft'
  readonly #repo: VersionedRepo
  readonly #clock: Clock

  constructor(repo: VersionedRepo, clock: Clock) {
    this.#repo = repo
    this.#clock = clock
  }

  readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined> {
    return readSettledHead(this.#repo, branch, options)
  }

  /** Squashed, so that the new head has one parent, the input ref. The source is a commit: a branch could move. */
  merge(write: MergeWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, stagedRef, message, metadata } = write
    const request = { source: stagedRef, into: branch, squash: true, message, metadata }
    return mergeOnce(this.#repo, request, options)
  }

  async move(write: MoveWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, to, expectedHead } = write
    const repo = this.#repo
    const fields = claimFields(write)
    const width = widthOf(write)
    const record = await this.#writeRecord(write, { ...fields, width }, plain(options))
    if (record === undefined) return this.#reset(write, options)
    const request = { ...fields, ...record, into: branch, squash: false }
    const claim = await mergeOrLook(repo, request, { expectedHead, options })
    // Where the server has refused the claim, surely nothing was written, and there is nothing to look for.
    if (!claim.written) return { written: false, why: 'withheld' }
    const made = await readMerged(repo, claim.ref, { branch, options })
    if (made?.parents[0] !== expectedHead) throw landedElsewhere(write, claim.ref, made)
    return collapse(repo, { branch, shape: { width }, claim: claim.ref, to }, plain(options))
  }

  /** `undefined`: this branch cannot be moved by a claim. */
  async #writeRecord(
    { branch, expectedHead, to }: MoveWrite,
    { width, ...fields }: { readonly message: string; readonly metadata: Metadata; readonly width: number },
    call: CallOptions,
  ): Promise<{ readonly source: CommitRef; readonly allowEmpty: boolean } | undefined> {
    const repo = this.#repo
    const [head, target, mayReset] = await Promise.all([
      readRequired(repo, expectedHead, call),
      readRequired(repo, to, call),
      takesReset(repo, branch, call),
    ])
    // The empty tree has no id; then the branch's own is as good, since the collapse leaves neither.
    const tree = target.metaRange === '' ? head : target
    if (tree.metaRange === '' || !mayReset) return undefined
    const at = { repo, clock: this.#clock }
    const generation = generationAbove([head, target])
    const write = (parents: readonly CommitRef[], steps: number): Promise<CommitRef> =>
      writeDetached(at, { ...fields, parents, tree, generation: generation + steps }, call)
    try {
      const leaf = await write([expectedHead, expectedHead, to], 0)
      const fan = await write([...Array<CommitRef>(width - 1).fill(expectedHead), leaf], 1)
      const source = await write([expectedHead, fan], 2)
      // Where it changes something it must: then the same merge, if it takes effect once more, brings nothing and is refused.
      return { source, allowEmpty: tree.metaRange === head.metaRange }
    } catch (error) {
      const kind = errorKindOf(error)
      if (kind === 'refused' || kind === 'missing') return undefined
      throw error
    }
  }

  async #reset({ branch, expectedHead, to }: MoveWrite, options: GuardedOptions): Promise<BranchWrite> {
    const outcome = await this.#repo.moveBranch({ branch, expectedHead, to }, options)
    if (outcome.moved) return { written: true, ref: to, by: 'reset' }
    return { written: false, why: outcome.head === undefined ? 'withheld' : 'head-moved' }
  }
}

function claimFields({ expectedHead, to, metadata }: MoveWrite): {
  readonly message: string
  readonly metadata: Metadata
} {
  const announced = { 'publish.claim': to } satisfies Partial<Record<MetadataKey, string>>
  return { message: `Move from ${expectedHead} to ${to}`, metadata: { ...metadata, ...announced } }
}

/**
 * The same for one execution's repetition, and hardly ever for another's. By the execution, and not by chance, so that the same
 * requests are sent again.
 */
function widthOf({ expectedHead, to, metadata }: MoveWrite): number {
  const text = JSON.stringify([expectedHead, to, Object.entries(metadata).sort()])
  return CLAIM_WIDTH_MIN + (createHash('sha256').update(text).digest().readUInt16BE() % CLAIM_WIDTHS)
}

/** Both commits are in the history, and the claim stays: to take it off would be the reset that it stands for. */
function landedElsewhere(
  { branch, expectedHead, to }: MoveWrite,
  ref: CommitRef,
  made: CommitRecord | undefined,
): PublishFenceError {
  return new PublishFenceError('landed-elsewhere', {
    ...{ branch, inputRef: expectedHead, head: ref, headFirstParent: made?.parents[0] },
    ...{ stagedRef: to, publishedRef: ref },
  })
}
