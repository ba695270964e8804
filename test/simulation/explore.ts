// Runs the worlds of scenarios: one by its seed, one by its answers, or all of a situation.
import type { HardFences } from '../../src/publication/hard-fences.ts'
import * as worlds from '../../src/testing/worlds/explore.ts'
import { RandomDecider, SystematicDecider } from '../../src/testing/worlds/decisions.ts'
import { World } from '../../src/testing/worlds/world.ts'
import { workOf } from './attempt.ts'
import { randomScenario, type Scenario } from './scenarios.ts'

export interface Ran extends worlds.Ran {
  readonly scenario: Scenario
}

/** A time limit of a simulated world never passes by itself, and thousands of worlds need no timers. */
AbortSignal.timeout = () => new AbortController().signal

export async function runWorld(
  scenario: Scenario,
  decider: worlds.RecordingDecider,
  fences: HardFences,
): Promise<Ran> {
  return { ...(await worlds.runWorld({ scenario, decider, fences, work: workOf(scenario) })), scenario }
}

export function openWorld(scenario: Scenario, decider: worlds.RecordingDecider, fences: HardFences): World {
  return new World({ scenario, decider, fences, work: workOf(scenario) })
}

export function runSeed(seed: number, strength: Scenario['strength'], fences: HardFences): Promise<Ran> {
  return runWorld(randomScenario(seed, strength), new RandomDecider(seed), fences)
}

export interface Explored {
  /** Worlds that came to an end. */
  readonly ended: number
  /** Worlds that came to a state from which all was known. */
  readonly pruned: number
  readonly states: number
  readonly isWhole: boolean
  readonly windows: ReadonlySet<string>
  readonly failure: Ran | undefined
}

/** All interleavings within the scenario's budget; stops at the first violation. */
export async function exploreAll(
  scenario: Scenario,
  fences: HardFences,
  { worldsMax, untilMs = Infinity }: { readonly worldsMax: number; readonly untilMs?: number },
): Promise<Explored> {
  const decider = new SystematicDecider()
  const windows = new Set<string>()
  let ended = 0
  let pruned = 0
  for (let isMore = true; isMore; isMore = decider.next()) {
    const ran = await runWorld(scenario, decider, fences)
    if (ran.isPruned) pruned++
    else ended++
    for (const window of ran.verdict.windows) windows.add(window)
    const isFailed = ran.verdict.violations.length > 0
    const isEnough = ended + pruned >= worldsMax || performance.now() >= untilMs
    if (isFailed || isEnough) {
      const failure = isFailed ? ran : undefined
      return { ended, pruned, states: decider.states, isWhole: false, windows, failure }
    }
  }
  return { ended, pruned, states: decider.states, isWhole: true, windows, failure: undefined }
}

/** The same failure with as few answers as possible that are not calm. */
export function shrink(
  failed: Ran,
  fences: HardFences,
  options: worlds.ShrinkOptions<Ran> = {},
): Promise<Ran> {
  return worlds.shrink(failed, (decider) => runWorld(failed.scenario, decider, fences), options)
}

/** What whoever reads a failure needs: what did not hold, how to see it again, and who asked what. */
export function tellFailure(ran: Ran): string {
  const { verdict, picks, scenario } = ran
  const last = picks.findLastIndex((pick) => pick !== 0)
  return [
    `did not hold: ${verdict.violations.join('; ')}`,
    `in: ${JSON.stringify(scenario)}`,
    `answers: ${picks.slice(0, last + 1).join(',')}`,
    worlds.tellStory(ran),
  ].join('\n')
}
