// Goal: whatever is done to branches in whatever order, they hold what plain maps would hold.
// Method: random operations on the engine and on a model of maps; after each, every branch is compared.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LAKE, openLake, type TestLake } from '../../../../test/support/embedded-engine.ts'
import { EngineError, type EngineReason } from './engine.ts'

type Content = ReadonlyMap<string, string>

interface ModelCommit {
  readonly parents: readonly string[]
  readonly content: Content
}

interface ModelBranch {
  head: string
  /** Undefined for a deletion. */
  readonly staged: Map<string, string | undefined>
}

const BRANCHES = ['main', 'b1', 'b2', 'b3'] as const
const branch = fc.constantFrom(...BRANCHES)
const path = fc.nat(40).map((n) => `dir${n % 4}/${n}`)
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant('put' as const),
      branch,
      path,
      content: fc.constantFrom('1', '2', '3'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('remove' as const), branch, path }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('commit' as const), branch }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('merge' as const),
      source: branch,
      destination: branch,
      strategy: fc.constantFrom(undefined, 'source-wins' as const, 'dest-wins' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('hard-reset' as const), branch, to: branch, back: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('reset' as const), branch }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never

class Model {
  readonly commits = new Map<string, ModelCommit>()
  readonly branches = new Map<string, ModelBranch>()

  at(name: string): ModelBranch {
    return this.branches.get(name)!
  }

  committed(name: string): Content {
    return this.commits.get(this.at(name).head)!.content
  }

  shown(name: string): Content {
    const content = new Map(this.committed(name))
    for (const [key, value] of this.at(name).staged) {
      if (value === undefined) content.delete(key)
      else content.set(key, value)
    }
    return content
  }

  isDirty(name: string): boolean {
    return !isEqual(this.shown(name), this.committed(name))
  }

  ancestors(id: string): Set<string> {
    const found = new Set([id])
    for (const each of found) for (const parent of this.commits.get(each)!.parents) found.add(parent)
    return found
  }

  merged(
    base: Content,
    source: Content,
    destination: Content,
    strategy: string | undefined,
  ): Content | 'conflict' {
    const result = new Map(destination)
    for (const key of new Set([...base.keys(), ...source.keys()])) {
      const [b, s, d] = [base.get(key), source.get(key), destination.get(key)]
      if (s === b || s === d) continue
      if (d !== b && strategy === undefined) return 'conflict'
      if (d !== b && strategy === 'dest-wins') continue
      if (s === undefined) result.delete(key)
      else result.set(key, s)
    }
    return result
  }
}

function isEqual(left: Content, right: Content): boolean {
  return left.size === right.size && [...left].every(([key, value]) => right.get(key) === value)
}

async function reasonOf(work: Promise<unknown>): Promise<EngineReason | 'done'> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof EngineError) return error.reason
    throw error
  }
}

async function play(lake: TestLake, model: Model, step: Operation): Promise<void> {
  switch (step.op) {
    case 'put':
      await lake.put(step.branch, step.path, step.content)
      model.at(step.branch).staged.set(step.path, step.content)
      return
    case 'remove':
      await lake.remove(step.branch, step.path)
      if (model.shown(step.branch).has(step.path)) model.at(step.branch).staged.set(step.path, undefined)
      return
    case 'reset':
      await lake.engine.resetUncommitted(LAKE, step.branch, { type: 'reset' })
      model.at(step.branch).staged.clear()
      return
    case 'hard-reset': {
      const steps = `${step.to}~${step.back}`
      const reason = await reasonOf(
        lake.engine.hardReset({ repository: LAKE, branch: step.branch, ref: steps }),
      )
      let id: string | undefined = model.at(step.to).head
      for (let back = step.back; back > 0 && id !== undefined; back -= 1)
        id = model.commits.get(id)!.parents[0]
      expect(reason).toBe(id === undefined ? 'ref-not-found' : 'done')
      if (id !== undefined) model.at(step.branch).head = id
      return
    }
    case 'commit': {
      const reason = await reasonOf(lake.commit(step.branch, 'step'))
      expect(reason).toBe(model.isDirty(step.branch) ? 'done' : 'no-changes')
      if (reason !== 'done') return
      const content = model.shown(step.branch)
      const id = lake.head(step.branch)
      model.commits.set(id, { parents: [model.at(step.branch).head], content })
      model.at(step.branch).head = id
      model.at(step.branch).staged.clear()
      return
    }
    case 'merge':
      await playMerge(lake, model, step)
      return
  }
}

async function playMerge(lake: TestLake, model: Model, step: Operation & { op: 'merge' }): Promise<void> {
  const source = model.at(step.source).head
  const destination = model.at(step.destination).head
  const { base } = lake.engine.findMergeBase(LAKE, step.source, step.destination)
  const both = [...model.ancestors(source)].filter((id) => model.ancestors(destination).has(id))
  const generation = (id: string) => lake.engine.getCommit(LAKE, id).generation
  expect(both).toContain(base)
  expect(generation(base)).toBe(Math.max(...both.map(generation)))

  const contentAt = (id: string) => model.commits.get(id)!.content
  const merged = model.merged(contentAt(base), contentAt(source), contentAt(destination), step.strategy)
  const expected = model.isDirty(step.destination)
    ? 'dirty-branch'
    : isEqual(contentAt(base), contentAt(source))
      ? 'no-changes'
      : merged === 'conflict'
        ? 'merge-conflict'
        : 'done'
  const { strategy } = step
  const reason = await reasonOf(
    lake.merge(step.source, step.destination, strategy === undefined ? {} : { strategy }),
  )
  expect(reason).toBe(expected)
  if (reason !== 'done' || merged === 'conflict') return
  const id = lake.head(step.destination)
  model.commits.set(id, { parents: [destination, source], content: merged })
  model.at(step.destination).head = id
  // What was staged and is no change goes with the merge.
  model.at(step.destination).staged.clear()
}

function compare(lake: TestLake, model: Model): void {
  for (const name of BRANCHES) {
    const shown = lake.engine.list(LAKE, name, { amount: 1000 }).items
    const content = shown.map((item) => [item.path, item.kind === 'object' ? item.sizeBytes : undefined])
    const expected = [...model.shown(name)].sort(([a], [b]) => (a < b ? -1 : 1))
    expect(content.map(([key]) => key)).toEqual(expected.map(([key]) => key))
    expect(lake.head(name)).toBe(model.at(name).head)
    const changed = new Set(lake.uncommitted(name).map((line) => line.split(' ')[1]))
    const committed = model.committed(name)
    const keys = new Set([...model.shown(name).keys(), ...committed.keys()])
    expect(changed).toEqual(
      new Set([...keys].filter((key) => model.shown(name).get(key) !== committed.get(key))),
    )
  }
}

test('EE-69 branches hold what plain maps would hold after the same puts, commits, merges and resets', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (steps) => {
      const lake = await openLake()
      const model = new Model()
      const root = lake.head('main')
      model.commits.set(root, { parents: [], content: new Map() })
      for (const name of BRANCHES) {
        if (name !== 'main') await lake.branch(name, root)
        model.branches.set(name, { head: root, staged: new Map() })
      }
      for (const step of steps) {
        await play(lake, model, step)
        compare(lake, model)
      }
      for (const name of BRANCHES) {
        for (const [key, value] of model.shown(name)) expect(await lake.read(name, key)).toBe(value)
      }
      await lake.engine.close()
    }),
    { numRuns: 40 },
  )
})
