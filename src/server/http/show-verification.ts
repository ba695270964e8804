/** What is answered of a verification. */

import { defined } from '../../base/defined.ts'
import {
  NEXT_AFTER_CHECK,
  VERIFIED_CHECKS,
  type Verification,
  type VerifiedCheck,
} from '../../runtime/views/recovery-view.ts'

const CHECKS = Object.keys(VERIFIED_CHECKS) as readonly VerifiedCheck[]

export function showVerification(found: Verification) {
  const { holds, refuted, refutedCount, refutedOf, commits, stopped, oldest, isWhole } = found
  const { openOutputs, unknownWorkflows, withoutFence, foreign, foreignCount } = found
  return {
    holds,
    checks: CHECKS.map((check) => ({
      ...{ check, says: VERIFIED_CHECKS[check], refuted: refutedOf[check], next: NEXT_AFTER_CHECK[check] },
    })),
    findings: refuted.map(({ check, ref, why }) => ({ check, commit: ref, why })),
    findings_count: refutedCount,
    ...{ commits, stopped, is_whole: isWhole, ...defined({ oldest }) },
    ...{ open_outputs: openOutputs, unknown_workflows: unknownWorkflows },
    without_fence: withoutFence.map(({ kind, name, commits: count, newest, worker }) => ({
      ...{ kind, name, commits: count, newest, ...defined({ worker }) },
    })),
    ...{ foreign, foreign_count: foreignCount },
  }
}
