// Publishes as a worker of the Python package does, in its release 0.6.1: a staged commit without metadata, and a squashed merge of
// its branch without a message. `test/integration/peer.test.ts` holds it against the package itself.
import type { CommitRef } from '../../../src/base/ids.ts'
import type { VersionedRepo } from '../../../src/publication/ports.ts'
import { stagingBranchName } from '../../../src/publication/staging-name.ts'
import { commitOf, headOf, MAIN } from '../../conformance/versioned-repo-cases/world.ts'

export async function publishAsPython(
  repo: VersionedRepo,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly staged: CommitRef; readonly merged: CommitRef }> {
  const executionId = Object.keys(files).join('-')
  const task = { workflowId: 'w1', referenceTaskName: 'load', seq: 1, iteration: 0, taskId: 't1' }
  const branch = stagingBranchName({ ...task, retryCount: 0, executionId })
  await repo.createBranch({ branch, from: await headOf(repo, MAIN) })
  const { ref: staged } = await commitOf(repo, branch, files, { message: 'perago try' })
  // By the name of the branch, which lakeFS puts into the message.
  const source = branch as string as CommitRef
  const outcome = await repo.merge({ source, into: MAIN, squash: true })
  if (!outcome.merged) throw new Error(`not merged: ${outcome.reason}`)
  return { staged, merged: outcome.ref }
}
