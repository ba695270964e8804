/** Examines a workflow or a branch, and carries out what is asked for. */

import { InvalidError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { carryOut, type StepDone } from './carry-out.ts'
import { gather, type Findings } from './gather.ts'
import { isNormal, planRecovery, RECOVERY_ACTIONS, type OfferedAction, type RecoveryAction } from './plan.ts'
import type { RecoveryWorld } from './ports.ts'
import { judgeSituation, SITUATIONS, type Situation } from './situation.ts'
import { findTargets } from './targets.ts'

export interface Examination {
  readonly situation: Situation
  /** What the situation is, in one sentence. */
  readonly says: string
  /** Nobody has to do anything. */
  readonly isNormal: boolean
  readonly findings: Findings
  readonly offered: readonly OfferedAction[]
}

export interface RecoverRequest {
  /** A workflow id, or `repository/branch`. */
  readonly target: string
  /** Default: the action that is safe to do without asking; where there is none, nothing is done. */
  readonly action?: RecoveryAction | undefined
  readonly reason?: string | undefined
  readonly result?: Json | undefined
  /** Those on which it acts, of what was examined right before. Throws where nothing may be done. */
  readonly accept?: ((examined: readonly Examination[]) => readonly Examination[]) | undefined
}

export interface Recovered extends Examination {
  readonly action: RecoveryAction | undefined
  readonly done: readonly StepDone[]
}

/** Reads only. One for each branch of the target. */
export async function examine(world: RecoveryWorld, target: string): Promise<readonly Examination[]> {
  const examined: Examination[] = []
  for (const { place, task } of await findTargets(world, target)) {
    const findings = await gather(world, place, task)
    const situation = judgeSituation(findings.facts)
    const { offered } = planRecovery(situation, findings.facts)
    examined.push({
      situation,
      says: SITUATIONS[situation].says,
      isNormal: isNormal(situation),
      findings,
      offered,
    })
  }
  return examined
}

/** Examines anew, and acts on what it finds then. An action that is not offered on any branch is refused, and nothing is done. */
export async function recover(world: RecoveryWorld, request: RecoverRequest): Promise<readonly Recovered[]> {
  const found = await examine(world, request.target)
  const examined = request.accept?.(found) ?? found
  const chosen = examined.map((each) => ({ each, offered: choose(each, request.action) }))
  if (request.action !== undefined && chosen.every(({ offered }) => offered === undefined))
    throw notOffered(request, examined)
  const recovered: Recovered[] = []
  for (const { each, offered } of chosen) {
    const { reason, result } = request
    const done =
      offered === undefined ? [] : await carryOut(world, { findings: each.findings, offered, reason, result })
    recovered.push({ ...each, action: offered?.action, done })
  }
  return recovered
}

function choose({ offered }: Examination, action: RecoveryAction | undefined): OfferedAction | undefined {
  return offered.find((each) => (action === undefined ? each.isDefault : each.action === action))
}

export function isRecoveryAction(text: string): text is RecoveryAction {
  return Object.hasOwn(RECOVERY_ACTIONS, text)
}

function notOffered({ action, target }: RecoverRequest, examined: readonly Examination[]): InvalidError {
  const offered = [...new Set(examined.flatMap((each) => each.offered.map((offer) => offer.action)))]
  const situations = examined.map(({ situation }) => situation)
  return new InvalidError(
    'recovery/not-offered',
    `recover ${target} by ${action ?? ''}: the situation is ${situations.join(', ')}, which does not offer it`,
    {
      details: { situations, offered },
      next: offered.length === 0 ? 'See the page of the situation.' : `Offered: ${offered.join(', ')}.`,
    },
  )
}
