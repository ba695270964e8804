/**
 * What may be done about a situation, as steps. Pure: the steps are carried out by `carry-out.ts`, one after the other.
 *
 * 1. A branch is moved only after the step that keeps its head.
 * 2. No branch is moved while another workflow that has not ended may write it.
 * 3. What changes the meaning of somebody's work is never the default, and asks for a reason.
 */

import { SITUATIONS, type Situation, type SituationFacts } from './situation.ts'

export const RECOVERY_ACTIONS = {
  resend: 'send the result from the outbox, if the attempt still has the task',
  'finish-claim': 'finish the move of the branch that the claim announces',
  relocate: 'move the branch back to the input of the task, or to the output that it was moved back from',
  replace: 'put the finished work that was kept in the place of the head',
  quarantine: 'keep the head under an evidence branch, and move the branch back to the input of the task',
  restart: 'start the workflow again, with the head of the branch as its input',
  adopt: 'complete the task with the publication that is the head',
} as const
export type RecoveryAction = keyof typeof RECOVERY_ACTIONS

export type RecoveryStep =
  | { readonly do: 'keep-head' | 'branch-off-head' }
  | { readonly do: 'move-branch'; readonly to: 'input' | 'staged' | 'output' | 'claimed' }
  | { readonly do: 'send-result' | 'complete-task' | 'start-workflow' }

export interface OfferedAction {
  readonly action: RecoveryAction
  /** Done when nothing else is asked for. */
  readonly isDefault: boolean
  /** Done only with a reason. */
  readonly needsReason: boolean
  readonly steps: readonly RecoveryStep[]
}

export interface RecoveryPlan {
  readonly situation: Situation
  readonly offered: readonly OfferedAction[]
}

/**
 * ```ts
 * const { offered } = planRecovery(judgeSituation(facts), facts)
 * ```
 */
export function planRecovery(situation: Situation, facts: SituationFacts): RecoveryPlan {
  const mayMove = facts.others === 'none'
  const offered = OFFERS[situation](facts)
    .map((offer) => ({ ...offer, steps: stepsOf(offer.action, situation) }))
    .filter(({ steps }) => mayMove || steps.every(({ do: what }) => !STOPPED_BY_OTHERS.has(what)))
  return { situation, offered }
}

/** Whether nobody has to do anything. */
export function isNormal(situation: Situation): boolean {
  return SITUATIONS[situation].isNormal
}

type Offer = Omit<OfferedAction, 'steps'>

const STOPPED_BY_OTHERS: ReadonlySet<RecoveryStep['do']> = new Set(['move-branch', 'start-workflow'])

const byDefault = (action: RecoveryAction): Offer => ({ action, isDefault: true, needsReason: false })
const onRequest = (action: RecoveryAction): Offer => ({ action, isDefault: false, needsReason: false })
const withReason = (action: RecoveryAction): Offer => ({ action, isDefault: false, needsReason: true })
const when = (condition: boolean, offer: Offer): readonly Offer[] => (condition ? [offer] : [])

const nothing = (): readonly Offer[] => []

const OFFERS: Readonly<Record<Situation, (facts: SituationFacts) => readonly Offer[]>> = {
  'branch-missing': nothing,
  // Beside other writers nothing is offered: the next of them to read the branch finishes it.
  'claim-left': () => [byDefault('finish-claim')],
  'not-published-here': nothing,
  'task-unknown': ({ stand, head }) =>
    when(['above-input', 'forward'].includes(stand) && head !== 'foreign', withReason('quarantine')),
  'two-writers': nothing,
  'taken-over': nothing,
  'result-waiting': () => [byDefault('resend')],
  running: nothing,
  'published-unreported': () => [withReason('adopt'), withReason('relocate')],
  // No fence takes it for a try of the task: that could only be told from metadata, by which no fence decides.
  'forward-unreported': () => [withReason('adopt'), withReason('relocate')],
  'foreign-above-input': ({ staged, task }) => [
    ...when(task === 'failed', onRequest('restart')),
    withReason('quarantine'),
    ...when(staged === 'kept', withReason('replace')),
  ],
  'branch-moved': ({ stand, task }) => [
    ...when(task === 'failed', onRequest('restart')),
    ...when(['beyond', 'forward'].includes(stand), withReason('quarantine')),
  ],
  done: nothing,
  'moved-on': nothing,
  'output-off-branch': ({ output }) => when(output === 'ahead', withReason('relocate')),
  'failed-unpublished': () => [onRequest('restart')],
  'refused-work-kept': () => [onRequest('restart'), withReason('replace')],
  'abandoned-publication': () => [
    // It may be what an operator has put there.
    withReason('relocate'),
    withReason('quarantine'),
    onRequest('restart'),
  ],
}

function stepsOf(action: RecoveryAction, situation: Situation): readonly RecoveryStep[] {
  const moveTo = (to: 'input' | 'staged' | 'output' | 'claimed'): RecoveryStep => ({ do: 'move-branch', to })
  switch (action) {
    case 'resend':
      return [{ do: 'send-result' }]
    case 'adopt':
      return [{ do: 'complete-task' }]
    case 'restart':
      return [{ do: 'start-workflow' }]
    case 'finish-claim':
      return [{ do: 'keep-head' }, moveTo('claimed')]
    case 'relocate':
      return [{ do: 'keep-head' }, moveTo(situation === 'output-off-branch' ? 'output' : 'input')]
    case 'replace':
      return [{ do: 'keep-head' }, moveTo('staged')]
    case 'quarantine':
      return [{ do: 'keep-head' }, { do: 'branch-off-head' }, moveTo('input')]
  }
}
