/** What a rollback would do, without doing it. */

import { isPeragoError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import { resolvePlan, type RollbackParts, type RollbackRequest } from './roll-back-execution.ts'

export interface RollbackPreview {
  /** The checkpoint that is restored, where one is. */
  readonly checkpointId: string | undefined
  /** Reference names of what runs again. */
  readonly undone: readonly string[]
  /** `from` and `to` are the same where only a publication that was never recorded would leave the branch. */
  readonly moves: readonly {
    readonly repository: string
    readonly branch: string
    readonly from: CommitRef
    readonly to: CommitRef
  }[]
  /** Paths that get a new commit; `undefined`: all that the unit changed. */
  readonly restores: readonly {
    readonly repository: string
    readonly branch: string
    readonly paths: readonly string[] | undefined
  }[]
  /** Why it would be refused; none: it can be done. */
  readonly refusals: readonly { readonly code: string; readonly message: string; readonly next: string }[]
}

/** Throws what the rollback would throw before it looks at branches; what branches refuse is listed. */
export async function previewRollback(
  parts: RollbackParts,
  request: Pick<RollbackRequest, 'scope' | 'of'>,
): Promise<RollbackPreview> {
  const { of, plan } = await resolvePlan(parts, request)
  const refusals: RollbackPreview['refusals'][number][] = []
  const note = async (check: Promise<void>): Promise<void> => {
    try {
      await check
    } catch (error) {
      if (!isPeragoError(error) || error.kind !== 'refused') throw error
      const { code, message, next = '' } = error
      refusals.push({ code, message, next })
    }
  }
  for (const move of plan.moves) await note(parts.data.check(move))
  for (const restore of plan.restores) await note(parts.data.checkPaths(restore))
  return {
    checkpointId: of.level === 'checkpoint' ? of.checkpointId : undefined,
    undone: plan.undone,
    moves: plan.moves.map(({ repository, branch, expectedHead: from, to }) => ({
      repository,
      branch,
      from,
      to,
    })),
    restores: plan.restores.map(({ repository, branch, paths }) => ({ repository, branch, paths })),
    refusals,
  }
}
