import { computeCommitId } from './commit-id.ts'
import { findCommit, insertCommit, requireTree } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Commit } from './engine.ts'
import { requireWritable } from './repositories.ts'

/** Stores a commit as it is given, on no branch: any parents, any known tree. The id must be that of its content. */
export function writeCommitRecord(
  { db, writes, nodes }: EngineContext,
  repository: string,
  record: Commit,
): Promise<void> {
  return writes.run(() => {
    const { rid } = requireWritable(db, repository)
    const computed = computeCommitId(record)
    if (computed !== record.id) throw bad(`its content has the id ${computed}, not ${record.id}`)
    requireTree(nodes, record.metaRangeId)
    for (const parent of record.parents) {
      const generation = findCommit(db, rid, parent)?.generation
      if (generation === undefined) throw bad(`its parent ${parent} does not exist`)
      // Walks over the history rely on it.
      if (generation >= record.generation) {
        throw bad(`generation ${record.generation} is not above ${generation}, that of its parent ${parent}`)
      }
    }
    if (!insertCommit(db, rid, record)) {
      throw new EngineError('commit-exists', `commit ${record.id} exists already`)
    }
  })
}

function bad(problem: string): EngineError {
  return new EngineError('bad-commit-record', `commit record: ${problem}`)
}
