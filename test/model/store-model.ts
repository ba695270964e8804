// Sequences of operations on a store, as data, and what a store answers to them, as plain values that can be compared:
// revisions are replaced by the number of the step that wrote them.
import fc from 'fast-check'
import type { Store, StoreCondition, StoreOperation } from '../../src/core/ports.ts'

/** Few keys, close to each other, so that operations meet. */
const KEYS = ['a', 'a:1', 'a:10', 'a:2', 'a;', 'b:1', 'b:é', 'b:😀', 'b:ﬀ'] as const
const PREFIXES = ['a', 'a:', 'a:1', 'b:', 'c'] as const

interface Change {
  readonly key: string
  /** Nothing for a deletion. */
  readonly value: string | undefined
  readonly isBrief: boolean
}

interface Condition {
  readonly key: string
  /** `now` is the revision last seen under the key, `old` one that was overwritten. */
  readonly is: 'absent' | 'present' | 'now' | 'old'
}

export type Step =
  | { readonly step: 'get'; readonly key: string }
  | {
      readonly step: 'range'
      readonly prefix: string
      readonly after: string | undefined
      readonly order: 'ascending' | 'descending'
      readonly limit: number
    }
  | {
      readonly step: 'commit'
      readonly conditions: readonly Condition[]
      readonly changes: readonly Change[]
    }
  | { readonly step: 'clear'; readonly prefix: string }
  | { readonly step: 'outlive' }

const key = fc.constantFrom(...KEYS)
const change = fc.record({
  key,
  value: fc.option(fc.constantFrom('', 'x', 'yy'), { nil: undefined }),
  isBrief: fc.constant(false),
})
const condition = fc.record({ key, is: fc.constantFrom('absent', 'present', 'now', 'old') })
const unique = { selector: (item: { readonly key: string }) => item.key }

const lastingStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ step: fc.constant('get'), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('range'),
      prefix: fc.constantFrom(...PREFIXES),
      after: fc.option(key, { nil: undefined }),
      order: fc.constantFrom('ascending', 'descending'),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('commit'),
      conditions: fc.uniqueArray(condition, { maxLength: 2, ...unique }),
      changes: fc.uniqueArray(change, { maxLength: 4, ...unique }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('clear'), prefix: fc.constantFrom(...PREFIXES) }) },
)

export const steps = fc.array(lastingStep, { minLength: 8, maxLength: 30 })

/** With entries that expire, and one moment at which all of them have. */
export const stepsWithExpiry = fc
  .tuple(
    fc.array(lastingStep, { maxLength: 6 }),
    fc.uniqueArray(fc.record({ key, value: fc.constant('brief'), isBrief: fc.boolean() }), {
      minLength: 2,
      ...unique,
    }),
    fc.array(lastingStep, { minLength: 6, maxLength: 12 }),
  )
  .map(([before, changes, after]): Step[] => [
    ...before,
    { step: 'commit', conditions: [], changes },
    { step: 'outlive' },
    ...after,
  ])

/** An entry that is to expire: long enough that no store loses it before the `outlive` that follows. */
export const BRIEF_MS = 1_000

/** Runs the steps under a prefix of their own and gives everything the store said. */
export async function runSteps(
  store: Store,
  place: string,
  list: readonly Step[],
  outlive: () => Promise<void>,
): Promise<readonly unknown[]> {
  const run = new Run(store, place)
  const answers: unknown[] = []
  for (const [number, step] of list.entries()) {
    if (step.step === 'outlive') await outlive()
    else answers.push(await run.take(number, step))
  }
  answers.push(
    await run.take(list.length, {
      step: 'range',
      prefix: '',
      after: undefined,
      order: 'ascending',
      limit: 100,
    }),
  )
  return answers
}

class Run {
  readonly #store: Store
  readonly #place: string
  readonly #writtenBy = new Map<number, number>()
  /** The revisions a key had, as far as its writer was told. */
  readonly #history = new Map<string, number[]>()

  constructor(store: Store, place: string) {
    this.#store = store
    this.#place = place
  }

  async take(number: number, step: Exclude<Step, { step: 'outlive' }>): Promise<unknown> {
    switch (step.step) {
      case 'get': {
        const entry = await this.#store.get(this.#place + step.key)
        return entry && [Buffer.from(entry.value).toString(), this.#writer(entry.revision), entry.expires]
      }
      case 'range': {
        const { after, order, limit } = step
        const page = await this.#store.range({
          prefix: this.#place + step.prefix,
          ...(after === undefined ? {} : { after: this.#place + after }),
          order,
          limit,
        })
        const entries = page.entries.map((entry) => [
          entry.key.slice(this.#place.length),
          Buffer.from(entry.value).toString(),
          this.#writer(entry.revision),
        ])
        return { entries, next: page.next?.slice(this.#place.length) }
      }
      case 'clear':
        return this.#store.clear(this.#place + step.prefix)
      case 'commit':
        return this.#commit(number, step)
    }
  }

  async #commit(number: number, step: Extract<Step, { step: 'commit' }>): Promise<unknown> {
    const outcome = await this.#store.commit({
      conditions: step.conditions.map(({ key: name, is }): StoreCondition => {
        if (is === 'absent' || is === 'present') return { key: this.#place + name, is }
        const revisions = this.#history.get(name) ?? []
        const revision = revisions.at(is === 'now' ? -1 : -2) ?? 0
        return { key: this.#place + name, is: 'at', revision }
      }),
      operations: step.changes.map(({ key: name, value, isBrief }): StoreOperation => {
        if (value === undefined) return { do: 'delete', key: this.#place + name }
        const put = { do: 'put', key: this.#place + name, value: Buffer.from(value) } as const
        return isBrief ? { ...put, ttlMs: BRIEF_MS } : put
      }),
    })
    if (!outcome.committed) {
      return outcome.unmet.map(({ key: name, revision }) => [
        name.slice(this.#place.length),
        revision === undefined ? 'absent' : this.#writer(revision),
      ])
    }
    // The revision of a batch that put nothing means nothing.
    if (step.changes.some(({ value }) => value !== undefined)) this.#writtenBy.set(outcome.revision, number)
    for (const { key: name, value } of step.changes) {
      if (value !== undefined) this.#history.set(name, [...(this.#history.get(name) ?? []), outcome.revision])
    }
    return 'committed'
  }

  #writer(revision: number): number | string {
    return this.#writtenBy.get(revision) ?? `unknown revision ${revision}`
  }
}
