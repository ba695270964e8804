// The situations that are simulated.
import { PUBLICATION_CONFIRMATION_AGE_MAX_MS } from '../../src/publication/limits.ts'
import type { Budget } from './world.ts'

export type Body = 'own file' | 'same file' | 'nothing'

export interface Scenario {
  readonly strength: 'soft' | 'hard'
  readonly steps: number
  readonly retriesMax: number
  /** Of one attempt after another. */
  readonly bodies: readonly Body[]
  readonly budget: Readonly<Budget>
  readonly replace?: 'any' | 'own'
  /** Whether a retry completes with what an earlier attempt of its task has published. */
  readonly onRetry?: 'adopt'
  /** An earlier attempt of the first step has published, and nobody knows of it. */
  readonly isAbandoned?: boolean
  /** The branch takes merges only. */
  readonly isProtected?: boolean
  /** The server does not evaluate the fence any more, and nobody has noticed. */
  readonly isFenceOff?: boolean
  /** The server takes no records of commits, so that a claim cannot be written; without the hard fence alone. */
  readonly isOlder?: boolean
  /** The fence came with the abandoned publication, and its input has none. */
  readonly isFenceYoung?: boolean
  readonly foreignPath?: 'same' | 'other'
  readonly ageMaxMs: number
}

const NONE: Budget = {
  preemptions: 0,
  faults: 0,
  crashes: 0,
  timeouts: 0,
  foreign: 0,
  stalls: 0,
  rollbacks: 0,
}
const CALM = {
  ...{ strength: 'hard', steps: 1, retriesMax: 1, bodies: ['same file'], budget: NONE },
  ageMaxMs: PUBLICATION_CONFIRMATION_AGE_MAX_MS,
} as const satisfies Scenario

/** With up to two attempts; explored systematically, each with what it is about and a crash or a fault at every point. */
export const SITUATIONS = {
  'a retry after a crash': { budget: { crashes: 1 } },
  'a retry beside a zombie': { budget: { timeouts: 1, preemptions: 2 } },
  'a zombie with a fault': { budget: { timeouts: 1, preemptions: 1, faults: 1 } },
  'a fault anywhere': { budget: { faults: 1, preemptions: 1 } },
  'two faults': { budget: { faults: 2 } },
  'a crash and a fault': { budget: { crashes: 1, faults: 1 } },
  'a no-op': { bodies: ['nothing'], budget: { timeouts: 1, foreign: 1, preemptions: 1 } },
  'a replacement': { isAbandoned: true, budget: { timeouts: 1, preemptions: 2 } },
  'a replacement with a fault': { isAbandoned: true, budget: { faults: 1, crashes: 1, preemptions: 1 } },
  'a relocation': {
    isAbandoned: true,
    bodies: ['nothing'],
    budget: { faults: 1, crashes: 1, preemptions: 1 },
  },
  'a relocation beside a zombie': {
    isAbandoned: true,
    bodies: ['same file', 'nothing'],
    budget: { timeouts: 1, preemptions: 2 },
  },
  'a foreign writer': { budget: { foreign: 1, faults: 1, preemptions: 1 } },
  'a foreign writer of the same file': { foreignPath: 'same', budget: { foreign: 1, crashes: 1 } },
  'a foreign writer and a crash': { budget: { foreign: 1, crashes: 1 } },
  'a foreign writer beside a replacement': {
    isAbandoned: true,
    budget: { foreign: 1, faults: 1, preemptions: 1 },
  },
  'a foreign writer beside a relocation': {
    isAbandoned: true,
    bodies: ['nothing'],
    budget: { foreign: 1, crashes: 1, preemptions: 1 },
  },
  'a rollback beside an attempt': { budget: { rollbacks: 1, timeouts: 1, preemptions: 1 } },
  'a protected branch': {
    isAbandoned: true,
    isProtected: true,
    budget: { timeouts: 1, faults: 1, preemptions: 1 },
  },
  'only its own may be replaced': {
    ...{ isAbandoned: true, replace: 'own' },
    budget: { foreign: 1, timeouts: 1, preemptions: 1 },
  },
  'a server that stops evaluating the fence': {
    isFenceOff: true,
    isAbandoned: false,
    budget: { foreign: 1, preemptions: 1 },
  },
  'a relocation to before the fence': {
    isAbandoned: true,
    isFenceYoung: true,
    bodies: ['nothing'],
    budget: { foreign: 1, preemptions: 1 },
  },
  'a retry that adopts': { onRetry: 'adopt', budget: { crashes: 1 } },
  'a retry that adopts beside a zombie': { onRetry: 'adopt', budget: { timeouts: 1, preemptions: 2 } },
  'a retry that adopts and a fault': { onRetry: 'adopt', budget: { crashes: 1, faults: 1 } },
  'an adoption beside a foreign writer': {
    ...{ onRetry: 'adopt', isAbandoned: true },
    budget: { foreign: 1, preemptions: 1 },
  },
  'a publication of others where one would be adopted': {
    onRetry: 'adopt',
    budget: { foreign: 1, crashes: 1 },
  },
  'an adoption beside a rollback': {
    ...{ onRetry: 'adopt', isAbandoned: true },
    budget: { rollbacks: 1, timeouts: 1, preemptions: 1 },
  },
  'a stall before the write': { budget: { stalls: 1, timeouts: 1, preemptions: 1 } },
} as const satisfies Record<string, Omit<Partial<Scenario>, 'budget'> & { readonly budget: Partial<Budget> }>
export type Situation = keyof typeof SITUATIONS

export function scenarioOf(name: Situation, strength: Scenario['strength']): Scenario {
  const situation = SITUATIONS[name]
  return { ...CALM, ...situation, strength, budget: { ...NONE, ...situation.budget } }
}

const BODIES: readonly (readonly Body[])[] = [
  ['same file'],
  ['own file', 'same file'],
  ['same file', 'nothing'],
  ['nothing', 'own file'],
  ['same file', 'same file', 'nothing', 'own file'],
]

/** One of many, by its seed: several steps, and several of everything that may go wrong. */
export function randomScenario(seed: number, strength: Scenario['strength']): Scenario {
  const of = <T>(values: readonly [T, ...T[]], divisor: number): T =>
    values[Math.floor(seed / divisor) % values.length] ?? values[0]
  return {
    ...CALM,
    strength,
    steps: of([1, 2, 3], 1),
    retriesMax: 12,
    bodies: of([BODIES[0] ?? [], ...BODIES.slice(1)], 3),
    isAbandoned: of([false, true], 15),
    isProtected: of([false, false, false, true], 30),
    isOlder: strength === 'soft' && of([false, false, true], 29),
    replace: of<'any' | 'own'>(['any', 'any', 'own'], 120),
    ...(of([false, false, true], 23) && { onRetry: 'adopt' }),
    foreignPath: 'same',
    budget: {
      ...{
        preemptions: Infinity,
        timeouts: of([0, 1, 3], 7),
        crashes: of([0, 1, 3], 11),
        stalls: of([0, 1], 5),
      },
      ...{ faults: of([0, 2, 8], 13), foreign: of([0, 0, 1, 2], 17), rollbacks: of([0, 0, 0, 1], 19) },
    },
  }
}
