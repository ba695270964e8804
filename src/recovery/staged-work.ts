/** Finished work of a task that was staged on its input and refused, as its evidence tells. */

import { z } from 'zod'
import { isCommitRef, type BranchName, type CommitRef } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import type { CallOptions, VersionedRepo } from '../publication/ports.ts'
import { stagingPrefix } from '../publication/staging-name.ts'

export interface StagedWork {
  readonly stagingBranch: BranchName
  /** One commit above the input ref. */
  readonly ref: CommitRef
  /** The code of the refusal. */
  readonly code: string
  readonly message: string
}

const EVIDENCE = z.object({
  code: z.string(),
  message: z.string(),
  inputRef: z.string(),
  stagedRef: z.string().refine(isCommitRef),
})

/** The newest. */
export async function readStagedWork(
  repo: VersionedRepo,
  of: { readonly workflowId: string; readonly referenceTaskName: string; readonly inputRef: CommitRef },
  call: CallOptions,
): Promise<StagedWork | undefined> {
  let newest: { readonly work: StagedWork; readonly atMs: number } | undefined
  for await (const { branch, head } of repo.listBranches({ prefix: stagingPrefix(of) }, call)) {
    const commit = await repo.readCommit(head, call)
    const evidence = readEvidence(commit?.metadata['publish.evidence' satisfies MetadataKey])
    if (commit === undefined || evidence?.inputRef !== of.inputRef) continue
    const { stagedRef, code, message } = evidence
    const staged = await repo.readCommit(stagedRef, call)
    // What the evidence says is believed where the commits agree.
    if (staged?.parents[0] !== of.inputRef || commit.parents[0] !== staged.ref) continue
    const atMs = commit.createdAt.getTime()
    const work = { stagingBranch: branch, ref: staged.ref, code, message }
    if (newest === undefined || atMs >= newest.atMs) newest = { work, atMs }
  }
  return newest?.work
}

function readEvidence(text: string | undefined): z.infer<typeof EVIDENCE> | undefined {
  try {
    return text === undefined ? undefined : EVIDENCE.parse(JSON.parse(text))
  } catch {
    // Not written by perago, or damaged: no evidence.
    return undefined
  }
}
