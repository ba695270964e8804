/** Before anything is laid out: whether an earlier attempt of the task has published already, so that this one only completes. */

import { adopt, type Adoption } from '../../publication/adopt.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { tellAdopted } from '../results/publication-lines.ts'
import { isAdopting } from './adopting.ts'
import type { AttemptState } from './attempt-state.ts'
import { sessionOf } from './publish-changes.ts'
import { renderTaskOutput, type WorkspaceRef } from './task-input.ts'
import { withholdFrom } from './withhold-secrets.ts'

/** `undefined`: there is nothing to adopt, or the task replaces what it finds. */
export async function adoptEarlier(
  state: AttemptState,
  { at, repo }: { readonly at: WorkspaceRef; readonly repo: VersionedRepo },
): Promise<Adoption | undefined> {
  const { authority, later, cleanUpPublished, log, steps, ledger } = state
  if (authority.kind !== 'attempt' || !isAdopting(state)) return undefined
  const { branch, ref: inputRef } = at
  const adoption = await steps.run(
    'adopt',
    () =>
      adopt({
        ...{ ...sessionOf(state, repo), authority, target: { branch, inputRef }, ledgerKeys: ledger?.keys },
        onHead: (head) => {
          state.seen = { head }
        },
      }),
    (found) => ({ outputRef: found?.outputRef }),
  )
  if (adoption === undefined) return undefined
  const { outputRef } = adoption
  // It may have been recorded before the secret was configured.
  const result = withholdFrom(state, adoption.result)
  state.checkOutput?.(renderTaskOutput({ workspace: { ...at, ref: outputRef }, result }))
  state.publication = { ...adoption, result }
  if (cleanUpPublished !== undefined) later.push(() => cleanUpPublished(repo))
  log.add(tellAdopted(adoption))
  return { ...adoption, result }
}
