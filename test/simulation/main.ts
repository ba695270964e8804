// `npm run simulate`: many worlds by their seeds, or all of the situations; see docs/concepts/why-it-holds.md.
import { parseArgs } from 'node:util'
import type { HardFences } from '../../src/publication/hard-fences.ts'
import { openWarmFences } from '../../src/testing/worlds/explore.ts'
import { exploreAll, runSeed, shrink, tellFailure, type Ran } from './explore.ts'
import { randomScenario, SITUATIONS, scenarioOf, type Scenario, type Situation } from './scenarios.ts'

const OPTIONS = {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  minutes: { type: 'string', default: 'Infinity' },
  strength: { type: 'string', default: 'both' },
  systematic: { type: 'boolean', default: false },
  worlds: { type: 'string', default: '20000' },
  tell: { type: 'boolean', default: false },
  brief: { type: 'boolean', default: false },
} as const

interface Wanted {
  readonly seeds: number
  readonly from: number
  readonly untilMs: number
  readonly strengths: readonly Scenario['strength'][]
  readonly isSystematic: boolean
  readonly worldsMax: number
  readonly isTold: boolean
}

/** The exit code. */
export async function main(
  args: readonly string[],
  say: (line: string) => void = console.log,
): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  const wanted: Wanted = {
    seeds: Number(values.seeds),
    from: Number(values.from),
    untilMs: performance.now() + Number(values.minutes) * 60_000,
    strengths:
      values.strength === 'hard' || values.strength === 'soft' ? [values.strength] : ['hard', 'soft'],
    isSystematic: values.systematic,
    // `--systematic 100000` says how many.
    worldsMax: Number((values.systematic ? positionals[0] : undefined) ?? values.worlds),
    isTold: values.tell,
  }
  // Nobody reads the stacks of thousands of refusals.
  Error.stackTraceLimit = 0
  const fences = await openWarmFences()
  const failure = await (wanted.isSystematic
    ? exploreSituations(wanted, fences, say)
    : runSeeds(wanted, fences, say))
  if (failure === undefined) return 0
  say(
    values.brief
      ? `did not hold: ${failure.verdict.violations.join('; ')}`
      : tellFailure(await shrink(failure, fences)),
  )
  return 1
}

async function runSeeds(
  wanted: Wanted,
  fences: HardFences,
  say: (line: string) => void,
): Promise<Ran | undefined> {
  const { seeds, from, untilMs, isTold } = wanted
  for (const strength of wanted.strengths) {
    const startMs = performance.now()
    const windows = new Map<string, number>()
    let count = 0
    for (let seed = from; seed < from + seeds && performance.now() < untilMs; seed++) {
      const ran = await runSeed(seed, strength, fences)
      count++
      for (const window of ran.verdict.windows) windows.set(window, (windows.get(window) ?? 0) + 1)
      if (isTold) say(tellFailure(ran))
      if (ran.verdict.violations.length === 0) continue
      say(`seed ${seed}, ${strength}: ${JSON.stringify(randomScenario(seed, strength))}`)
      return ran
    }
    const perSecond = Math.round((count * 1_000) / (performance.now() - startMs))
    say(
      `${strength}: ${count} random worlds, ${perSecond} a second, nothing broken; windows: ${show(windows)}`,
    )
  }
  return undefined
}

async function exploreSituations(
  { strengths, worldsMax, untilMs }: Wanted,
  fences: HardFences,
  say: (line: string) => void,
): Promise<Ran | undefined> {
  let worlds = 0
  let isWhole = 0
  for (const strength of strengths)
    for (const name of Object.keys(SITUATIONS) as Situation[]) {
      const explored = await exploreAll(scenarioOf(name, strength), fences, { worldsMax, untilMs })
      const { ended, pruned, states, windows, failure } = explored
      const share = explored.isWhole ? 'all' : 'not all'
      worlds += ended + pruned
      if (explored.isWhole) isWhole++
      say(
        `${strength}, ${name}: ${ended + pruned} worlds, ${states} states, ${share}; windows: ${show(windows)}`,
      )
      if (failure !== undefined) return failure
    }
  const situations = strengths.length * Object.keys(SITUATIONS).length
  say(`${worlds} worlds were gone through systematically; ${isWhole} of ${situations} situations wholly`)
  return undefined
}

function show(windows: ReadonlyMap<string, number> | ReadonlySet<string>): string {
  const shown =
    windows instanceof Map ? [...windows].map(([name, count]) => `${name} (${count})`) : [...windows]
  return shown.length === 0 ? 'none' : shown.join(', ')
}
