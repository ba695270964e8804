/** Whether tasks should share data, and how. Pure: three answers in, one recommendation out. */

export interface SharingRequirements {
  /** Tasks need data of each other. */
  readonly needsCommunication: boolean
  /** One of them can only begin when another one is done. */
  readonly hasDependency: boolean
  /** They work on the same data at the same time. */
  readonly needsRealtime: boolean
}

export type SharingRecommendation = 'CROSS_ORDER_PIPELINE' | 'SAME_ORDER_WITH_SYNC' | 'AVOID_SHARED_SPACE'

export interface SharingDecision {
  readonly recommendation: SharingRecommendation
  readonly reason: string
  /** `null`: none fits. */
  readonly pattern: string | null
  /** What to do instead of sharing; only when advised against. */
  readonly alternative?: string
  /** A function of this package that shows it. */
  readonly codeExample: string | null
}

const NO_COMMUNICATION: SharingDecision = {
  recommendation: 'AVOID_SHARED_SPACE',
  reason: 'The tasks need no data of each other.',
  pattern: null,
  alternative: 'Use a message queue, a database or independent variables.',
  codeExample: null,
}

const PIPELINE: SharingDecision = {
  recommendation: 'CROSS_ORDER_PIPELINE',
  reason: 'One task needs the result of another: with different orders it is there before it is needed.',
  pattern: 'cross-order pipeline',
  codeExample: 'pipelineExample()',
}

const SYNCED: SharingDecision = {
  recommendation: 'SAME_ORDER_WITH_SYNC',
  reason: 'The tasks work on the same data at the same time, and none has to wait for the end of another.',
  pattern: 'same order with synchronisation',
  codeExample: 'realtimeCollaborationExample()',
}

const INDEPENDENT: SharingDecision = {
  recommendation: 'AVOID_SHARED_SPACE',
  reason:
    'The tasks communicate, but neither at the same time nor one after the other, so data of their own is simpler. ' +
    'If they must communicate nevertheless, say which comes first, or that they work at the same time.',
  pattern: null,
  alternative: 'Give each task independent data structures, and bring the results together afterwards.',
  codeExample: 'independentDataExample()',
}

/**
 * ```ts
 * SharedSpaceDecisionMaker({ needsCommunication: true, hasDependency: true, needsRealtime: false }).pattern
 * ```
 */
export function SharedSpaceDecisionMaker(requirements: SharingRequirements): SharingDecision {
  if (!requirements.needsCommunication) return NO_COMMUNICATION
  if (requirements.hasDependency) return PIPELINE
  return requirements.needsRealtime ? SYNCED : INDEPENDENT
}

export interface DecisionJudgement {
  readonly valid: boolean
  readonly warnings: readonly string[]
}

interface Rule {
  readonly applies: (requirements: SharingRequirements, recommendation: SharingRecommendation) => boolean
  readonly isValid: boolean
  readonly warning: string
}

const RULES: readonly Rule[] = [
  {
    applies: ({ needsCommunication }, recommendation) =>
      needsCommunication && recommendation === 'AVOID_SHARED_SPACE',
    isValid: false,
    warning: 'The tasks need to communicate, and without a shared space they cannot: a function is missing.',
  },
  {
    applies: ({ hasDependency }, recommendation) =>
      hasDependency && recommendation === 'SAME_ORDER_WITH_SYNC',
    isValid: true,
    warning: 'One task depends on another: consider different orders.',
  },
  {
    applies: ({ needsRealtime }, recommendation) =>
      !needsRealtime && recommendation === 'SAME_ORDER_WITH_SYNC',
    isValid: true,
    warning: 'The tasks need not work at the same time: synchronisation is more effort than needed.',
  },
]

/** Each rule judges on its own; warnings add up. */
export function validateDecision(
  requirements: SharingRequirements,
  decision: Pick<SharingDecision, 'recommendation'>,
): DecisionJudgement {
  const broken = RULES.filter(({ applies }) => applies(requirements, decision.recommendation))
  return {
    valid: broken.every(({ isValid }) => isValid),
    warnings: broken.map(({ warning }) => warning),
  }
}

export interface SharingPattern {
  readonly name: string
  readonly goodFor: readonly string[]
  readonly orders: 'different' | 'same' | 'both'
  readonly complexity: 'low' | 'medium' | 'high'
  readonly reliability: 'medium' | 'high'
}

export const SHARING_PATTERNS: readonly SharingPattern[] = [
  {
    name: 'cross-order pipeline',
    goodFor: ['data pipelines', 'ETL'],
    orders: 'different',
    complexity: 'low',
    reliability: 'high',
  },
  {
    name: 'same-order cooperation',
    goodFor: ['producer and consumer', 'parallel aggregation'],
    orders: 'same',
    complexity: 'medium',
    reliability: 'medium',
  },
  {
    name: 'mixed mode',
    goodFor: ['complex workflows'],
    orders: 'both',
    complexity: 'high',
    reliability: 'high',
  },
]
