/** The steps of an attempt as rows with bars, and what its fences saw. Pure. */

import type { Schemas } from '../../api.ts'

type Step = NonNullable<Schemas['WorkflowTask']['steps']>[number]
type Fence = Schemas['TaskPublication']['fences'][number]

export interface StepRow {
  readonly step: Step
  /** Since the first one began. */
  readonly afterMs: number
  /** Of the whole time, from 0 to 1, as is `width`. */
  readonly left: number
  readonly width: number
  /** Of the publication. */
  readonly isPart: boolean
  readonly fence: Fence | undefined
}

export function readStepTimes(steps: readonly Step[], fences: readonly Fence[]): readonly StepRow[] {
  const times = steps.map(({ at, ms }) => ({ fromMs: Date.parse(at), ms }))
  const firstMs = Math.min(...times.map(({ fromMs }) => fromMs))
  const wholeMs = Math.max(1, ...times.map(({ fromMs, ms }) => fromMs + ms - firstMs))
  const seen = placeFences(steps, fences)
  return steps.map((step, index) => {
    const afterMs = Date.parse(step.at) - firstMs
    const [left, width] = [afterMs / wholeMs, step.ms / wholeMs]
    return { step, afterMs, left, width, isPart: step.step.includes('/'), fence: seen.get(index) }
  })
}

/** Where each is asked; a branch is looked at before the body, too. */
const ASKED_IN: Readonly<Record<Fence['fence'], readonly (readonly string[])[]>> = {
  attempt: [['publish/attempt-fence']],
  publish: [['publish/publish-fence'], ['look-at-branch']],
  hard: [['publish/merge', 'publish/replace', 'publish/relocate']],
}

function placeFences(steps: readonly Step[], fences: readonly Fence[]): ReadonlyMap<number, Fence> {
  const placed = new Map<number, Fence>()
  for (const fence of fences) {
    const places = ASKED_IN[fence.fence]
      .map((names) => steps.flatMap(({ step }, index) => (names.includes(step) ? [index] : [])))
      .find((indexes) => indexes.length > 0)
    for (const index of places ?? []) {
      // Had one not let pass, no later one would have been asked.
      placed.set(index, index === places?.at(-1) ? fence : { fence: fence.fence, passed: true })
    }
  }
  return placed
}
