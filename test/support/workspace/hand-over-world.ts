/** One directory that an attempt left, and the one that comes after it. */

import { onTestFinished } from 'vitest'
import { diffWorkspace, type ChangeSet } from '../../../src/workspace/comparing/diff.ts'
import { readProcessMoment } from '../../../src/workspace/hand-over/find-holder.ts'
import {
  handOver,
  takeOver,
  type HandOver,
  type TakeOver,
} from '../../../src/workspace/hand-over/hand-over.ts'
import { layOut, type AttemptWorkspace } from '../../../src/workspace/laying-out/lay-out.ts'
import type { WorkspaceSpec } from '../../../src/tasks/workspace-spec.ts'
import { md5Of, memorySource, type StoredObject } from './memory-source.ts'
import { ATTEMPT, temporaryRoot } from './temporary-root.ts'
import { readFileSync } from 'node:fs'
import type { WorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'

export interface HandOverWorld {
  readonly root: WorkspaceRoot
  readonly workspace: AttemptWorkspace
  /** Compares, stores what changed, and hands over. */
  leave(): Promise<HandOver & { readonly changes: ChangeSet }>
  take(left: HandOver): Promise<TakeOver>
}

export async function openHandOverWorld(
  objects: Readonly<Record<string, string | Uint8Array | StoredObject>>,
  spec: WorkspaceSpec = {},
  given?: WorkspaceRoot,
): Promise<HandOverWorld> {
  const root = given ?? (await temporaryRoot())
  const since = readProcessMoment()
  const workspace = await layOut({ root, attempt: ATTEMPT, source: memorySource(objects), spec })
  onTestFinished(() => workspace.remove())
  return {
    root,
    workspace,
    leave: async () => {
      const changes = await diffWorkspace(workspace, { forHandOver: true })
      const stored = new Map(
        changes.uploads.map(({ key, localPath }) => [key, md5Of(readFileSync(localPath))]),
      )
      return { ...(await handOver({ workspace, changes, stored, since })), changes }
    },
    take: (left) => {
      if (!left.isHandedOver) throw new Error(`it was not handed over: ${left.why}`)
      return takeOver(left.directory, { root, attempt: { ...ATTEMPT, taskId: 'next' } })
    },
  }
}
