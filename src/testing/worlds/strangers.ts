/** Commits of others than the attempts of a simulated world. */

import type { CommitRef } from '../../base/ids.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { writeLedger } from '../../publication/ledger.ts'
import type { Metadata } from '../../publication/ports.ts'
import type { ScriptedRepo } from '../scripted-repo.ts'
import { TARGET, taskOf } from './work.ts'

/** Puts a commit on the branch; the script is not asked. */
export function putCommit(
  repo: ScriptedRepo,
  files: Readonly<Record<string, string>>,
  metadata: Readonly<Record<string, string>>,
): CommitRef {
  const { model } = repo
  const head = repo.head(TARGET)
  const tree = new Map(head && model.treeAt(head))
  for (const [path, text] of Object.entries(files)) tree.set(path, model.object(path, Buffer.from(text), {}))
  const { ref } = model.addCommit({
    parents: head === undefined ? [] : [head],
    message: 'Work',
    metadata,
    tree,
  })
  repo.move({ client: 'direct', branch: TARGET, how: 'commit', to: ref })
  return ref
}

/** As an attempt of the first step would describe its commit at the head of the branch. */
export function ledgerOf(
  repo: ScriptedRepo,
  of: { readonly workflowId: string; readonly client: string; readonly firstInput: CommitRef },
): Metadata {
  const { workflowId, client, firstInput } = of
  const attempt = {
    ...{ taskId: client as TaskId, workflowId: workflowId as WorkflowId, workerId: client },
    ...{ retryCount: 0, pollCount: 1, startTimeMs: 0 },
  }
  const readFresh = (): Promise<never> => Promise.reject(new Error('nobody asks'))
  const task = { referenceTaskName: taskOf(0), seq: 0, iteration: 0 }
  return writeLedger({
    authority: { kind: 'attempt', attempt, readFresh, ...task, executionId: client },
    ...{ repository: repo.repository, branch: TARGET, inputRef: repo.head(TARGET) ?? firstInput },
    result: { kind: 'inline', value: { by: client } },
  })
}
