/**
 * What became of one task's publication, told from facts. Every combination of facts is exactly one situation: the table
 * below is the whole rule. Each situation has a page of its name in `docs/guides/recovery/`.
 */

import { DefectError } from '../base/errors.ts'

/** Every fact has few values, so that the table is tried over all of them. */
export const FACT_VALUES = {
  /**
   * Where the branch stands, seen from the commit that the task was given to read. `forward`: beyond it, by a replacement on this very
   * input that says so, on a branch that takes no reset.
   */
  stand: ['missing', 'claim', 'no-input', 'at-input', 'above-input', 'forward', 'beyond', 'elsewhere'],
  /** Whose commit the head is: of this very task, of another publication, of nobody that perago knows. */
  head: ['own', 'other', 'foreign'],
  task: ['none', 'unknown', 'open', 'completed', 'failed'],
  /** Where the output ref of a completed task is. `ahead`: the branch was moved back from it. */
  output: ['none', 'head', 'history', 'ahead', 'off-branch'],
  /** A result of the attempt in an outbox of this machine. */
  result: ['none', 'waiting', 'refused'],
  /** Work that was staged on the same input and refused. */
  staged: ['none', 'kept'],
  /** Other workflows that have not ended and may write the branch. */
  others: ['none', 'open'],
} as const

type FactValues = typeof FACT_VALUES
export type SituationFacts = { readonly [Fact in keyof FactValues]: FactValues[Fact][number] }

type Pattern = { readonly [Fact in keyof FactValues]?: readonly FactValues[Fact][number][] }

export interface SituationText {
  /** One sentence for people. */
  readonly says: string
  /** Nothing is wrong: nobody has to do anything. */
  readonly isNormal: boolean
}

export const SITUATIONS = {
  'branch-missing': { says: 'the branch does not exist', isNormal: false },
  'claim-left': {
    says: 'the head is a claim: a move of the branch was begun and not finished',
    isNormal: false,
  },
  'not-published-here': { says: 'no task is known that publishes here', isNormal: true },
  'task-unknown': {
    says: 'Conductor does not know the task that published the head: its workflow was removed or restarted, or runs elsewhere',
    isNormal: false,
  },
  'two-writers': {
    says: 'another workflow that has not ended may write the same branch',
    isNormal: false,
  },
  'taken-over': {
    says: 'the task has failed, and another workflow that has not ended may write the branch',
    isNormal: true,
  },
  'result-waiting': {
    says: 'the attempt has ended, but its result is still in the outbox of its worker',
    isNormal: false,
  },
  running: { says: 'the task has not ended and has published nothing', isNormal: true },
  'published-unreported': {
    says: 'the branch has a publication of this task, whose result has not reached Conductor; the next attempt replaces it',
    isNormal: false,
  },
  'forward-unreported': {
    says: 'a retry of this task has published on a protected branch, on top of the commit that it replaced; its result has not reached Conductor, and a further attempt is refused',
    isNormal: false,
  },
  'foreign-above-input': {
    says: "a commit that is not this task's stands where this task would publish",
    isNormal: false,
  },
  'branch-moved': { says: 'the branch has moved away from what the task has read', isNormal: false },
  done: { says: 'the task is complete, and its output is the head', isNormal: true },
  'moved-on': {
    says: 'the task is complete, and its output is in the history of the branch',
    isNormal: true,
  },
  'output-off-branch': {
    says: 'the task is complete, but its output is not in the history of the branch',
    isNormal: false,
  },
  'failed-unpublished': {
    says: 'the task has failed, and the branch is as it found it',
    isNormal: true,
  },
  'refused-work-kept': {
    says: 'the task has failed, the branch is as it found it, and its finished work is kept',
    isNormal: false,
  },
  'abandoned-publication': {
    says: 'the task has failed, but its publication is the head',
    isNormal: false,
  },
} as const satisfies Readonly<Record<string, SituationText>>

export type Situation = keyof typeof SITUATIONS

const ON_INPUT = ['at-input', 'above-input', 'forward', 'beyond', 'elsewhere'] as const
const ASTRAY = ['beyond', 'elsewhere'] as const
const ALONE = { others: ['none'] } as const
const UNSENT = { ...ALONE, task: ['open'], result: ['none', 'refused'] } as const
const FAILED = { ...ALONE, task: ['failed'] } as const
const COMPLETED = { stand: ON_INPUT, task: ['completed'] } as const

/** No two rows have a combination in common, and together they have all. */
const TABLE: readonly (readonly [Situation, Pattern])[] = [
  ['branch-missing', { stand: ['missing'] }],
  ['claim-left', { stand: ['claim'] }],
  ['not-published-here', { stand: ['no-input'] }],
  ['not-published-here', { stand: ON_INPUT, task: ['none'] }],
  ['task-unknown', { stand: ON_INPUT, task: ['unknown'] }],
  ['two-writers', { stand: ON_INPUT, task: ['open'], others: ['open'] }],
  ['taken-over', { stand: ON_INPUT, task: ['failed'], others: ['open'] }],
  ['result-waiting', { ...ALONE, stand: ON_INPUT, task: ['open'], result: ['waiting'] }],
  ['running', { ...UNSENT, stand: ['at-input'] }],
  ['published-unreported', { ...UNSENT, stand: ['above-input'], head: ['own'] }],
  ['forward-unreported', { ...UNSENT, stand: ['forward'], head: ['own'] }],
  ['branch-moved', { ...UNSENT, stand: ['forward'], head: ['other', 'foreign'] }],
  ['foreign-above-input', { ...UNSENT, stand: ['above-input'], head: ['other', 'foreign'] }],
  ['branch-moved', { ...UNSENT, stand: ASTRAY }],
  ['done', { ...COMPLETED, output: ['none', 'head'] }],
  ['moved-on', { ...COMPLETED, output: ['history'] }],
  ['output-off-branch', { ...COMPLETED, output: ['ahead', 'off-branch'] }],
  ['failed-unpublished', { ...FAILED, stand: ['at-input'], staged: ['none'] }],
  ['refused-work-kept', { ...FAILED, stand: ['at-input'], staged: ['kept'] }],
  ['abandoned-publication', { ...FAILED, stand: ['above-input', 'forward'], head: ['own'] }],
  ['branch-moved', { ...FAILED, stand: ['forward'], head: ['other', 'foreign'] }],
  ['foreign-above-input', { ...FAILED, stand: ['above-input'], head: ['other', 'foreign'] }],
  ['branch-moved', { ...FAILED, stand: ASTRAY }],
]

/**
 * ```ts
 * judgeSituation({ stand: 'at-input', head: 'other', task: 'failed', output: 'none', result: 'none', staged: 'none', others: 'none' })
 * // 'failed-unpublished'
 * ```
 */
export function judgeSituation(facts: SituationFacts): Situation {
  const [first, ...more] = TABLE.filter(([, pattern]) => matches(pattern, facts))
  if (first !== undefined && more.length === 0) return first[0]
  throw new DefectError('recovery/no-situation', `name a situation: ${1 + more.length} rows match`, {
    details: { facts },
  })
}

function matches(pattern: Pattern, facts: SituationFacts): boolean {
  return Object.entries(pattern).every(([fact, allowed]) =>
    (allowed as readonly string[]).includes(facts[fact as keyof SituationFacts]),
  )
}
