import { computeCommitId } from './commit-id.ts'
import { findCommit, insertCommit, requireTree } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type CommitRecordInput } from './engine.ts'
import { requireWritable } from './repositories.ts'

/** Stores a commit as it is told, on no branch: any parents, any known tree. The id must be that of its content. */
export function writeCommitRecord(
  { db, writes, nodes }: EngineContext,
  repository: string,
  record: CommitRecordInput,
): Promise<void> {
  return writes.run(() => {
    const { rid } = requireWritable(db, repository)
    const { commitId, ...content } = record
    const computed = computeCommitId(content)
    if (computed !== commitId) {
      throw new EngineError(
        'bad-commit-record',
        `commit record: its content has the id ${computed}, not ${commitId}`,
      )
    }
    requireTree(nodes, content.metaRangeId)
    for (const parent of content.parents) {
      const generation = findCommit(db, rid, parent)?.generation
      if (generation === undefined) {
        throw new EngineError('bad-commit-record', `commit record: its parent ${parent} is not there`)
      }
      // Walks over the history rely on it.
      if (generation >= content.generation) {
        throw new EngineError(
          'bad-commit-record',
          `commit record: generation ${content.generation} is not above ${generation}, that of its parent ${parent}`,
        )
      }
    }
    if (!insertCommit(db, rid, { id: commitId, ...content })) {
      throw new EngineError('commit-exists', `commit ${commitId} is there already`)
    }
  })
}
