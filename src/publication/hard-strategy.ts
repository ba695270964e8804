/**
 * Publishing with a fence that lakeFS keeps itself: it compares the expected head inside the write (`fence-file.ts`).
 *
 * 1. Every request that can change the branch is a merge with an expectation, or a collapse, which does nothing on any head
 *    but a claim (`claims.ts`).
 * 2. What was merged is read: if it does not stand on the expectation, no fence was evaluated, and the publication is refused.
 * 3. A lost answer is settled by looking. No request whose answer was lost is sent again, but for the collapse.
 */

import type { Clock } from '../base/clock.ts'
import { errorKindOf, MissingError, RefusedError, UncertainError } from '../base/errors.ts'
import type { BranchName, CommitRef, MetaRangeId } from '../base/ids.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { readNewest, readSettledHead } from './claims.ts'
import type { MetadataKey } from './commit-metadata.ts'
import { EXPECTED_HEAD } from './fence-file.ts'
import { CLAIM_COLLAPSES_MAX } from './limits.ts'
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
    if (await this.#isProtected(branch, options)) return this.#replaceForward(write, options)
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
      ? this.#collapse(write, claim.ref, plain(options))
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
    const { parents, tree, squash = false, allowEmpty } = of
    const message = `Move from ${expectedHead} to ${to}`
    const metadata = { ...of.metadata, [EXPECTED_HEAD]: expectedHead }
    const source = await this.#writeDetached({ parents, tree, message, metadata }, plain(options))
    const request = { source, into: branch, message, metadata, squash, allowEmpty }
    const outcome = await this.#mergeOrLook(request, { squash, expectedHead, source }, options)
    if (outcome.written) await this.#requireHeld(outcome.ref, request, expectedHead, options)
    return outcome
  }

  async #mergeOrLook(
    request: MergeRequest,
    of: { readonly squash: boolean; readonly expectedHead: CommitRef; readonly source: CommitRef },
    options: GuardedOptions,
  ): Promise<BranchWrite> {
    try {
      return await mergeOnce(this.#of.repo, request, options)
    } catch (error) {
      if (errorKindOf(error) !== 'uncertain') throw error
      const head = await readNewest(this.#of.repo, request.into, plain(options)).catch(() => undefined)
      const isOurs = of.squash
        ? head?.parents[0] === of.expectedHead && isSame(head.metadata, request.metadata)
        : head?.parents[1] === of.source
      if (head === undefined || !isOurs) throw error
      return { written: true, ref: head.ref }
    }
  }

  /** The same fields twice are one commit, so a lost answer needs no more than a look. */
  async #writeDetached(
    of: {
      readonly parents: readonly CommitRef[]
      readonly tree: CommitRef
      readonly message: string
      readonly metadata: Metadata
    },
    call: CallOptions,
  ): Promise<CommitRef> {
    const { repo, clock } = this.#of
    const { parents, message, metadata } = of
    const known = await Promise.all([...new Set([...parents, of.tree])].map((ref) => this.#read(ref, call)))
    const metaRange = known.find(({ ref }) => ref === of.tree)?.metaRange
    const generation = 1 + Math.max(...known.map((parent) => parent.generation))
    const fields = { parents, message, metadata, committer: 'perago', generation, createdAt: clock.now() }
    // Only a commit that has the fence's file is taken here, and that is not the empty one.
    return repo.writeCommit({ ...fields, metaRange: metaRange as MetaRangeId }, call)
  }

  async #read(ref: CommitRef, call: CallOptions): Promise<CommitRecord> {
    const found = await this.#of.repo.readCommit(ref, call)
    if (found !== undefined) return found
    throw new MissingError('publication/no-such-commit', `move a branch: there is no commit ${ref}`)
  }

  async #collapse({ branch, to }: MoveWrite, claim: CommitRef, call: CallOptions): Promise<BranchWrite> {
    let cause: unknown
    for (let count = 0; count < CLAIM_COLLAPSES_MAX; count++) {
      try {
        await this.#of.repo.collapseClaim(branch, call)
      } catch (error) {
        // Not done, or perhaps done: the head tells.
        if (errorKindOf(error) !== 'uncertain' && errorKindOf(error) !== 'unavailable') throw error
        cause = error
      }
      const head = await this.#readAfterClaim(branch, call)
      if (head?.ref === to) return { written: true, ref: to }
      // Somebody was quicker, on the commit or still on the claim.
      if (head?.ref !== claim) return { written: false, why: 'head-moved' }
    }
    throw afterClaim(branch, cause)
  }

  async #readAfterClaim(branch: BranchName, call: CallOptions): Promise<CommitRecord | undefined> {
    try {
      return await readNewest(this.#of.repo, branch, call)
    } catch (cause) {
      throw errorKindOf(cause) === 'unavailable' ? afterClaim(branch, cause) : cause
    }
  }

  async #isProtected(branch: BranchName, options: GuardedOptions): Promise<boolean> {
    try {
      await this.#of.repo.collapseClaim(branch, plain(options))
      return false
    } catch (error) {
      // A claim that was collapsed, or not, makes the guard see another head, or the same one.
      if (errorKindOf(error) === 'uncertain') return false
      if (errorKindOf(error) === 'refused') return true
      throw error
    }
  }

  async #requireHeld(
    ref: CommitRef,
    { into: branch, source }: MergeRequest,
    expectedHead: CommitRef,
    options: GuardedOptions,
  ): Promise<void> {
    const { repo, onNotHeld } = this.#of
    let made: CommitRecord | undefined
    try {
      made = await repo.readCommit(ref, plain(options))
    } catch (cause) {
      throw errorKindOf(cause) === 'unavailable' ? unread(branch, ref, cause) : cause
    }
    if (made?.parents[0] === expectedHead) return
    onNotHeld()
    throw new PublishFenceError('fence-not-held', {
      ...{ branch, inputRef: expectedHead, head: ref, headFirstParent: made?.parents[0] },
      ...{ stagedRef: source, publishedRef: ref },
    })
  }
}

/** Without the guard: it belongs to the write alone. */
function plain({ signal }: GuardedOptions): CallOptions {
  return { signal }
}

function isSame(found: Metadata, sent: Metadata = {}): boolean {
  return Object.entries(sent).every(([key, value]) => found[key] === value)
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

function afterClaim(branch: BranchName, cause: unknown): UncertainError {
  return new UncertainError(
    'publication/claim-left',
    `move branch "${branch}": it is claimed, and could not be moved on; the next reader of the branch does it`,
    { details: { branch }, read: `the head of branch "${branch}"`, cause },
  )
}

function unread(branch: BranchName, ref: CommitRef, cause: unknown): UncertainError {
  return new UncertainError(
    'publication/unconfirmed',
    `publish on branch "${branch}": ${ref} was merged, but could not be read afterwards`,
    { details: { branch, mergedRef: ref }, read: `the log of branch "${branch}"`, cause },
  )
}
