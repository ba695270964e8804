/** Runs a world, and makes the story of a failure short. */

import { systemClock } from '../../base/clock.ts'
import { FENCE_FILE, FENCE_PATH } from '../../publication/fence-file.ts'
import { openHardFences, type HardFences } from '../../publication/hard-fences.ts'
import { ScriptedRepo } from '../scripted-repo.ts'
import { ReplayDecider, type Decider } from './decisions.ts'
import { judge, type Verdict } from './verdict.ts'
import { TARGET } from './work.ts'
import { World, type WorldOptions } from './world.ts'

export interface Ran {
  readonly picks: readonly number[]
  readonly verdict: Verdict
  readonly story: readonly string[]
  readonly isPruned: boolean
}

/** Runs one world as it is decided. */
type RunWorld<R extends Ran> = (decider: RecordingDecider) => Promise<R>

export type RecordingDecider = Decider & { readonly picks: readonly number[] }

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
  options: WorldOptions & { readonly decider: RecordingDecider },
): Promise<Ran & { readonly world: World }> {
  const world = new World(options)
  await world.run()
  const { story, isPruned } = world
  return { world, picks: [...options.decider.picks], verdict: judge(world), story, isPruned }
}

/** The same failure with as few answers as possible that are not calm. */
export async function shrink<R extends Ran>(
  failed: R,
  run: RunWorld<R>,
  { isSame = sameViolation(failed), triesMax = SHRINK_TRIES_MAX }: ShrinkOptions<R> = {},
): Promise<R> {
  let best = failed
  let tries = 0
  const tryAnswers = async (picks: readonly number[]): Promise<void> => {
    if (tries++ >= triesMax) return
    const ran = await run(new ReplayDecider(picks))
    if (isSame(ran)) best = ran
  }
  for (let size = Math.max(1, failed.picks.length >> 1); size >= 1; size >>= 1)
    for (let from = 0; from < best.picks.length; from += size) {
      const { picks } = best
      if (picks.slice(from, from + size).some((pick) => pick !== 0))
        await tryAnswers(picks.map((pick, index) => (index >= from && index < from + size ? 0 : pick)))
    }
  return best
}

export interface ShrinkOptions<R extends Ran> {
  readonly isSame?: (ran: R) => boolean
  readonly triesMax?: number
}

const SHRINK_TRIES_MAX = 2_000

function sameViolation({ verdict: { violations } }: Ran): (ran: Ran) => boolean {
  return ({ verdict }) => verdict.violations.some((violation) => violations[0] === violation)
}

/** Who asked what, line by line. */
export function tellStory({ story }: Pick<Ran, 'story'>): string {
  return story.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`).join('\n')
}
