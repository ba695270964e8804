/** One thing that is wrong with a graph. */

import type { ErrorCode } from '../../base/errors.ts'

export interface GraphProblem {
  readonly kind: 'invalid'
  readonly code: ErrorCode
  /** The unit to correct. Of a cycle: its first one. */
  readonly unit: string
  readonly message: string
  readonly next: string
}
