/**
 * Publishing with a fence that lakeFS keeps itself: it compares the expected head inside the write (`fence-file.ts`).
 *
 * 1. Every request that can change the branch is a merge with an expectation, or a collapse, which does nothing on any head
 *    but a claim (`claims.ts`).
 * 2. What was merged is read: if it does not stand on the expectation, no fence was evaluated, and the publication is refused.
 * 3. A lost answer is settled by looking. No request whose answer was lost is sent again, but for the collapse.
 */

import type { Clock } from '../base/clock.ts'
import { invariant, RefusedError } from '../base/errors.ts'
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
import { EXPECTED_HEAD } from './fence-file.ts'
import { mergeOnce } from './merge-once.ts'
import type { CallOptions, CommitRecord, MergeRequest, Metadata, VersionedRepo } from './ports.ts'
import type { BranchWrite, GuardedOptions, MergeWrite, MoveWrite, PublishStrategy } from './strategy.ts'

export interface HardStrategyOptions {
  readonly repo: VersionedRepo
  readonly clock: Clock
  /** Whether the tree of this commit has the fence's file. */
  readonly hasFence: (ref: CommitRef, call: CallOptions) => Promise<boolean>
  /** Called when the server has not evaluated the fence. */
  readonly onNotHeld: () => void
}

export class HardStrategy implements PublishStrategy {
  readonly strength = 'hard'
  readonly #of: HardStrategyOptions

  constructor(of: HardStrategyOptions) {
    this.#of = of
  }

  readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined> {
    return readSettledHead(this.#of.repo, branch, options)
  }

  async merge(write: MergeWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, stagedRef, message, expectedHead } = write
    const metadata = { ...write.metadata, [EXPECTED_HEAD]: expectedHead }
    const request = { source: stagedRef, into: branch, squash: true, message, metadata }
    const outcome = await mergeOnce(this.#of.repo, request, options)
    if (outcome.written) await this.#requireHeld(outcome.ref, request, expectedHead, options)
    return outcome
  }

  async move(write: MoveWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, expectedHead, to } = write
    if (!(await takesReset(this.#of.repo, branch, plain(options))))
      return this.#replaceForward(write, options)
    const tree = (await this.#of.hasFence(to, plain(options))) ? to : expectedHead
    const claimed = {
      parents: [expectedHead, expectedHead, to],
      tree,
      metadata: { ...write.metadata, 'publish.claim': to } satisfies Partial<Record<MetadataKey, string>>,
    }
    // Also where the tree stays the same: the claim is what counts.
    const claim = await this.#mergeDetached(write, { ...claimed, allowEmpty: true }, options)
    // Where the server has refused the claim, surely nothing was written, and there is nothing to look for.
    return claim.written
      ? collapse(this.#of.repo, { branch, shape: 'hard', claim: claim.ref, to }, plain(options))
      : { written: false, why: 'withheld' }
  }

  /** A branch that takes no reset: the replaced commit stays in its history. */
  async #replaceForward(write: MoveWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, expectedHead, to, mayGoForward } = write
    if (!mayGoForward) throw protectedBranch(write)
    if (!(await this.#of.hasFence(to, plain(options)))) throw fenceMissing(branch, to)
    const metadata = { ...write.metadata, 'publish.replaces': expectedHead } satisfies Partial<
      Record<MetadataKey, string>
    >
    return this.#mergeDetached(
      write,
      { parents: [expectedHead], tree: to, metadata, squash: true, allowEmpty: true },
      options,
    )
  }

  /** Merges a commit that is written for it alone, with the expectation. */
  async #mergeDetached(
    { branch, expectedHead, to }: MoveWrite,
    of: {
      readonly parents: readonly CommitRef[]
      readonly tree: CommitRef
      readonly metadata: Metadata
      readonly squash?: boolean
      readonly allowEmpty: boolean
    },
    options: GuardedOptions,
  ): Promise<BranchWrite> {
    const { parents, squash = false, allowEmpty } = of
    const { repo, clock } = this.#of
    const message = `Move from ${expectedHead} to ${to}`
    const metadata = { ...of.metadata, [EXPECTED_HEAD]: expectedHead }
    const call = plain(options)
    const refs = [...new Set([...parents, of.tree])]
    const known = await Promise.all(refs.map((ref) => readRequired(repo, ref, call)))
    // Only a commit that has the fence's file is taken here, and that is not the empty one.
    const tree = known[refs.indexOf(of.tree)]
    invariant(tree !== undefined, 'the commit of the tree is among those that were read')
    const generation = generationAbove(known)
    const fields = { parents, tree, generation, message, metadata }
    const source = await writeDetached({ repo, clock }, fields, call)
    const request = { source, into: branch, message, metadata, squash, allowEmpty }
    const outcome = await mergeOrLook(repo, request, { expectedHead, options })
    if (outcome.written) await this.#requireHeld(outcome.ref, request, expectedHead, options)
    return outcome
  }

  async #requireHeld(
    ref: CommitRef,
    { into: branch, source }: MergeRequest,
    expectedHead: CommitRef,
    options: GuardedOptions,
  ): Promise<void> {
    const { repo, onNotHeld } = this.#of
    const made = await readMerged(repo, ref, { branch, options })
    if (made?.parents[0] === expectedHead) return
    onNotHeld()
    throw new PublishFenceError('fence-not-held', {
      ...{ branch, inputRef: expectedHead, head: ref, headFirstParent: made?.parents[0] },
      ...{ stagedRef: source, publishedRef: ref },
    })
  }
}

export function fenceMissing(branch: BranchName, ref: CommitRef): RefusedError {
  return new RefusedError(
    'publication/fence-missing',
    `write branch "${branch}": a hard fence is required, and ${ref} does not have its file`,
    {
      details: { branch, ref },
      next: 'Install the fence with "perago fence install", and start from a commit that has it; or set lakefs.fence to "preferred".',
    },
  )
}

function protectedBranch({ branch, expectedHead, to }: MoveWrite): RefusedError {
  return new RefusedError(
    'publication/branch-protected',
    `move branch "${branch}" from ${expectedHead} to ${to}: the branch is protected and takes merges only`,
    { details: { branch, expectedHead, to }, next: `Lift the protection of "${branch}" for the move.` },
  )
}
