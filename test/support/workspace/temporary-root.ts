/** A workspace root in a temporary directory, closed and removed when its test has ended. */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  openWorkspaceRoot,
  type WorkspaceAttempt,
  type WorkspaceRoot,
} from '../../../src/workspace/ownership/ownership.ts'

export const ATTEMPT: WorkspaceAttempt = {
  workflowId: 'workflow-1',
  taskId: 'task/1',
  retryCount: 0,
  pollCount: 1,
  workerId: 'worker-1',
}

export async function temporaryDirectory(below = tmpdir()): Promise<string> {
  const directory = await mkdtemp(join(below, 'perago-workspace-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

export async function temporaryRoot(below?: string): Promise<WorkspaceRoot> {
  const root = await openWorkspaceRoot({ directory: await temporaryDirectory(below), workerId: 'worker-1' })
  onTestFinished(() => root.close())
  return root
}

/** What the attempts of this root have left on disk. */
export async function attemptsOf(root: WorkspaceRoot): Promise<readonly string[]> {
  return [
    ...(await readdir(join(root.directory, 'workers', root.token, 'attempts'))),
    ...(await readdir(join(root.directory, 'trash'))),
  ]
}
