/** Rollbacks of an engine that reaches no repository: what has published nothing needs none, and the rest is refused. */

import { RefusedError } from '../../base/errors.ts'
import type { DataRollback } from '../../publication/rollback-port.ts'

export const NO_DATA: DataRollback = {
  check: ({ branch }) => Promise.reject(noData(branch)),
  moveBack: ({ branch }) => Promise.reject(noData(branch)),
  checkPaths: ({ branch }) => Promise.reject(noData(branch)),
  restorePaths: ({ branch }) => Promise.reject(noData(branch)),
}

function noData(branch: string): RefusedError {
  return new RefusedError(
    'engine/no-data-rollback',
    `roll branch "${branch}" back: this engine reaches no repository`,
    {
      details: { branch },
      next: 'Configure the lakeFS of this tenant; in a program, open the engine with `checkpoints.data`.',
    },
  )
}
