import { expect, test } from 'vitest'
import { branchName, commitRef } from '../base/ids.ts'
import type { Change } from './ports.ts'
import type { PublicationRun } from './publication.ts'
import { verifyStaged } from './verify-staged.ts'

const [INPUT, STAGED] = ['a', 'b'].map((digit) => commitRef(digit.repeat(64)))
const PATH = 'orders/a.csv'

/** A run that plans one deletion, whose staged commit differs from the input like this. */
function runShowing(changes: readonly Change[]): PublicationRun {
  return {
    request: { changes: { uploads: [], deletes: [PATH] } },
    inputRef: INPUT,
    stagingBranch: branchName('staging'),
    repeat: (operation: (call: object) => Promise<unknown>) => operation({}),
    repo: {
      diff: async function* () {
        yield* await Promise.resolve(changes)
      },
      stat: () => Promise.resolve(undefined),
    },
  } as unknown as PublicationRun
}

test.each(['added', 'changed'] as const)(
  'PU-06 a file that should be deleted and was %s on the staging branch is not published',
  async (change) => {
    const staged = { ref: STAGED!, stored: new Map() }
    await verifyStaged(runShowing([{ path: PATH, change: 'removed', sizeBytes: 1 }]), staged)
    await expect(
      verifyStaged(runShowing([{ path: PATH, change, sizeBytes: 1 }]), staged),
    ).rejects.toMatchObject({
      code: 'publication/staged-unlike-plan',
    })
  },
)
