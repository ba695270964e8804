// Runs worlds: one by its seed, one by its answers, or all of a situation; and makes the story of a failure short.
import { systemClock } from '../../src/base/clock.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import { openHardFences, type HardFences } from '../../src/publication/hard-fences.ts'
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import { TARGET } from '../support/publication-world.ts'
import { RandomDecider, ReplayDecider, SystematicDecider, type Decider } from './decisions.ts'
import { randomScenario, type Scenario } from './scenarios.ts'
import { judge, type Verdict } from './verdict.ts'
import { World } from './world.ts'

export interface Ran {
  readonly scenario: Scenario
  readonly picks: readonly number[]
  readonly verdict: Verdict
  readonly story: readonly string[]
  readonly isPruned: boolean
}

/** A time limit of a simulated world never passes by itself, and thousands of worlds need no timers. */
AbortSignal.timeout = () => new AbortController().signal

/** One process' knowledge of fences, which has sent its canary: it would be the same in each world. */
export async function openWarmFences(): Promise<HardFences> {
  const fences = openHardFences({ clock: systemClock })
  const world = new ScriptedRepo()
  const ref = world.commitDirectly(TARGET, { [FENCE_PATH]: FENCE_FILE })
  const repo = world.connect('canary')
  await fences.choose({ repo, branch: TARGET, trees: [ref], repeat: (operation) => operation({}) })
  return fences
}

export async function runWorld(
  scenario: Scenario,
  decider: Decider & { readonly picks: readonly number[] },
  fences: HardFences,
): Promise<Ran> {
  const world = new World(scenario, decider, fences)
  await world.run()
  const { story, isPruned } = world
  return { scenario, picks: [...decider.picks], verdict: judge(world), story, isPruned }
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
    if (isFailed || isEnough)
      return {
        ended,
        pruned,
        states: decider.states,
        isWhole: false,
        windows,
        failure: isFailed ? ran : undefined,
      }
  }
  return { ended, pruned, states: decider.states, isWhole: true, windows, failure: undefined }
}

/** The same failure with as few answers as possible that are not calm. */
export async function shrink(
  failed: Ran,
  fences: HardFences,
  { isSame = sameViolation(failed), triesMax = SHRINK_TRIES_MAX }: ShrinkOptions = {},
): Promise<Ran> {
  let best = failed
  let tries = 0
  const tryAnswers = async (picks: readonly number[]): Promise<void> => {
    if (tries++ >= triesMax) return
    const ran = await runWorld(failed.scenario, new ReplayDecider(picks), fences)
    if (isSame(ran.verdict)) best = ran
  }
  for (let size = Math.max(1, failed.picks.length >> 1); size >= 1; size >>= 1)
    for (let from = 0; from < best.picks.length; from += size) {
      const { picks } = best
      if (picks.slice(from, from + size).some((pick) => pick !== 0))
        await tryAnswers(picks.map((pick, index) => (index >= from && index < from + size ? 0 : pick)))
    }
  return best
}

interface ShrinkOptions {
  readonly isSame?: (verdict: Verdict) => boolean
  readonly triesMax?: number
}

const SHRINK_TRIES_MAX = 2_000

function sameViolation({ verdict: { violations } }: Ran): (verdict: Verdict) => boolean {
  return (verdict) => verdict.violations.some((violation) => violations[0] === violation)
}

/** What whoever reads a failure needs: what did not hold, how to see it again, and who asked what. */
export function tellFailure({ verdict, story, picks, scenario }: Ran): string {
  const last = picks.findLastIndex((pick) => pick !== 0)
  return [
    `did not hold: ${verdict.violations.join('; ')}`,
    `in: ${JSON.stringify(scenario)}`,
    `answers: ${picks.slice(0, last + 1).join(',')}`,
    ...story.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`),
  ].join('\n')
}
