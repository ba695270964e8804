// A claim as a worker leaves it that was killed between the claim and the collapse.
import type { CommitRef } from '../../src/base/ids.ts'
import { MAIN } from '../conformance/versioned-repo-cases/world.ts'
import type { RecoveryTestWorld } from './recovery-world.ts'

export async function leaveClaim(
  { repo }: RecoveryTestWorld,
  { head, to }: { readonly head: CommitRef; readonly to: CommitRef },
): Promise<CommitRef> {
  const [above, target] = await Promise.all([repo.readCommit(head), repo.readCommit(to)])
  if (above === undefined || target === undefined || target.metaRange === '')
    throw new Error('no such commits')
  const metadata = { 'publish.claim': to, 'publish.run': 'killed', 'publish.input': to }
  const generation = 1 + Math.max(above.generation, target.generation)
  const source = await repo.writeCommit({
    ...{ parents: [head, head, to], message: 'claim', committer: 'perago', metadata },
    ...{ metaRange: target.metaRange, generation, createdAt: new Date() },
  })
  const outcome = await repo.merge({ source, into: MAIN, message: 'claim', metadata, allowEmpty: true })
  if (!outcome.merged) throw new Error(`not merged: ${outcome.reason}`)
  return outcome.ref
}
