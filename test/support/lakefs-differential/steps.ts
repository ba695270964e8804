// Random histories: each step is a kind and some dice, from which its requests are made. The same dice give the same requests,
// so a failing history can be made shorter, and can be repeated by its seed.
import fc from 'fast-check'
import type { Call } from './two-servers.ts'

export interface Step {
  readonly kind: Kind
  readonly dice: readonly number[]
}

/** What the requests of a step may depend on, besides its dice. */
export interface Situation {
  /** How many commits have been named so far. */
  readonly commits: number
  /** The number of this step: makes messages unique, so that no two commits are the same by accident. */
  readonly step: number
}

const DICE = 14
/** Not of hex digits: a short one would be the start of some commit's id now and then. */
const BRANCHES = ['main', 'x1', 'x2', 'x3'] as const
const GUARDED = 'guarded-1'
const TAGS = ['t1', 't2', 'v1.0'] as const
const PATHS = ['a', 'b', 'd/a', 'd/b', 'd/e/f', 'd/e/g', 'e/a', 'é', 'a b'] as const
const CONTENTS = ['1', '22', '333', 'a longer content'] as const
const PREFIXES = ['', 'd/', 'd', 'a', 'zz', 'd/e/', 'é'] as const
const SUFFIXES = [
  '',
  '',
  '',
  '',
  '',
  '@',
  '$',
  '~',
  '~1',
  '~2',
  '~3',
  '^',
  '^1',
  '^2',
  '^0',
  '~0',
  '^1~1',
  '~1^2',
  '@~1',
  '~x',
] as const

/** Every history begins with these, so that there is something to work on. */
export const OPENING: readonly Call[] = [
  // Read before anything else is: the real server remembers rules for seconds.
  { method: 'PUT', path: '~/settings/branch_protection', json: [{ pattern: 'guarded*' }] },
  { method: 'GET', path: '~/branches/main' },
  { method: 'GET', path: '~/commits/main' },
  { method: 'POST', path: '~/branches', json: { name: GUARDED, source: 'main' } },
  { method: 'POST', path: '~/branches', json: { name: 'x1', source: 'main' } },
  {
    method: 'POST',
    path: '~/branches/x1/objects',
    query: { path: 'b' },
    body: 'b',
    headers: { 'content-type': 'text/plain' },
  },
  { method: 'POST', path: '~/branches/x1/commits', json: { message: 'first', metadata: { n: '0' } } },
  { method: 'POST', path: '~/branches', json: { name: 'x2', source: 'x1' } },
  { method: 'POST', path: '~/tags', json: { id: 't1', ref: 'x1' } },
]

class Dice {
  readonly #values: readonly number[]
  #at = 0

  constructor(values: readonly number[]) {
    this.#values = values
  }

  below(bound: number): number {
    const value = this.#values[this.#at++ % DICE] ?? 0
    return value % bound
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T
  }

  /** One time in `times`. */
  once(times: number): boolean {
    return this.below(times) === times - 1
  }

  /** Its fields, each left out now and then. */
  some(times: number, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).filter(() => this.once(times)))
  }
}

type Make = (dice: Dice, situation: Situation) => readonly Call[]

/**
 * Never the same at two paths: in a merge the real server compares an added object with the next one of the base, whatever its
 * path, and where both are equal it drops the source's without a conflict.
 */
function contentOf(dice: Dice, path: string): string {
  return path === 'a' && dice.once(3) ? '' : `${dice.pick(CONTENTS)} of ${path}`
}

const branchOf = (dice: Dice): string =>
  dice.once(12) ? dice.pick([GUARDED, 'missing', 't1']) : dice.pick(BRANCHES)
const enc = encodeURIComponent

function baseOf(dice: Dice, { commits }: Situation): string {
  switch (dice.below(8)) {
    case 4:
    case 5:
      return `(c${String(dice.below(Math.max(1, commits)))})`
    case 6:
      return dice.once(2) ? `(c${String(dice.below(Math.max(1, commits)))}.16)` : dice.pick(TAGS)
    case 7:
      return dice.once(2) ? dice.pick(['missing', GUARDED, 'deadbeefdeadbeef']) : dice.pick(TAGS)
    default:
      return dice.pick(BRANCHES)
  }
}

const refOf = (dice: Dice, situation: Situation): string => `${baseOf(dice, situation)}${dice.pick(SUFFIXES)}`

const overridesOf = (dice: Dice, step: number): unknown =>
  dice.pick([
    { message: `overridden ${String(step)}` },
    { metadata: { n: String(step), a: '1' } },
    { message: `both ${String(step)}`, metadata: { n: String(step) } },
    { message: '', metadata: {} },
    {},
  ])

function pageOf(dice: Dice, names: readonly string[]): Record<string, string | number> {
  return dice.some(4, {
    amount: dice.pick([1, 2, 3, 0, -1, 1000, 1001, -2]),
    after: dice.pick(names),
    prefix: dice.pick(PREFIXES),
  }) as Record<string, string | number>
}

/** What a branch shows after it may have been changed. */
function looksAt(branch: string): Call[] {
  return [
    { method: 'GET', path: `~/branches/${enc(branch)}` },
    { method: 'GET', path: `~/commits/${enc(branch)}` },
    { method: 'GET', path: `~/branches/${enc(branch)}/diff` },
  ]
}

const KINDS = {
  upload(dice) {
    const branch = branchOf(dice)
    const headers = {
      'content-type': dice.pick(['text/plain', 'text/plain', 'application/x-other']),
      ...(dice.once(5) && { 'x-lakefs-meta-key': dice.pick(['1', '2']) }),
      ...(dice.once(6) && { 'if-none-match': '*' }),
    }
    const path = dice.once(30) ? dice.pick(['', 'x'.repeat(1025)]) : dice.pick(PATHS)
    return [
      {
        method: 'POST',
        path: `~/branches/${branch}/objects`,
        query: { path },
        body: contentOf(dice, path),
        headers,
      },
    ]
  },
  remove(dice) {
    return [
      { method: 'DELETE', path: `~/branches/${branchOf(dice)}/objects`, query: { path: dice.pick(PATHS) } },
    ]
  },
  removeSome(dice) {
    const paths = [0, 1, 2].slice(dice.below(3)).map(() => dice.pick(PATHS))
    return [{ method: 'POST', path: `~/branches/${branchOf(dice)}/objects/delete`, json: { paths } }]
  },
  copy(dice, situation) {
    const path = dice.pick(PATHS)
    const json = { src_path: path, ...(dice.once(2) && { src_ref: refOf(dice, situation) }) }
    return [
      { method: 'POST', path: `~/branches/${branchOf(dice)}/objects/copy`, query: { dest_path: path }, json },
    ]
  },
  setMetadata(dice) {
    const json = { set: dice.pick([{}, { key: '1' }, { key: '2', other: 'x' }]) }
    return [
      {
        method: 'PUT',
        path: `~/branches/${branchOf(dice)}/objects/stat/user_metadata`,
        query: { path: dice.pick(PATHS) },
        json,
      },
    ]
  },
  commit(dice, { step, commits }) {
    const branch = branchOf(dice)
    const json = {
      message: dice.once(10) ? '' : `commit ${String(step)}`,
      metadata: { n: String(step) },
      ...dice.some(4, { allow_empty: true }),
      ...dice.some(8, { date: 1_700_000_000 + step }),
    }
    const query = dice.once(8) ? { source_metarange: `(m${String(dice.below(Math.max(1, commits)))})` } : {}
    return [{ method: 'POST', path: `~/branches/${branch}/commits`, query, json }, ...looksAt(branch)]
  },
  badCommit(dice) {
    const json = dice.pick([
      {},
      { message: 1 },
      { message: 'x', metadata: { a: 1 } },
      { message: 'x', metadata: [] },
      'x',
    ])
    return [{ method: 'POST', path: `~/branches/${branchOf(dice)}/commits`, json }]
  },
  merge(dice, situation) {
    const source = refOf(dice, situation)
    const destination = branchOf(dice)
    const json = {
      ...(!dice.once(10) && { message: `merge ${String(situation.step)}` }),
      metadata: { n: String(situation.step) },
      ...dice.some(3, { strategy: dice.pick(['source-wins', 'dest-wins', '', 'other']) }),
      ...dice.some(5, { squash_merge: true, allow_empty: true, force: true }),
    }
    return [
      { method: 'POST', path: `~/refs/${enc(source)}/merge/${destination}`, json },
      ...looksAt(destination),
    ]
  },
  revert(dice, situation) {
    const branch = branchOf(dice)
    const json = {
      ref: refOf(dice, situation),
      parent_number: dice.pick([0, 0, 0, 1, 1, 2, 3, -1]),
      ...dice.some(4, { allow_empty: true }),
      // Without overrides its message says only what was reverted; twice in one second it is the same commit.
      commit_overrides: dice.once(3)
        ? overridesOf(dice, situation.step)
        : { metadata: { n: String(situation.step) } },
    }
    return [{ method: 'POST', path: `~/branches/${branch}/revert`, json }, ...looksAt(branch)]
  },
  cherryPick(dice, situation) {
    const branch = branchOf(dice)
    const json = {
      ref: refOf(dice, situation),
      ...dice.some(3, { parent_number: dice.pick([1, 2, 0, 3, -1]) }),
      // Without metadata of its own the real server writes into the picked commit that it keeps in memory, which then has
      // another id: that is left to the end of a history.
      commit_overrides: {
        message: dice.once(2) ? '' : `picked ${String(situation.step)}`,
        metadata: { n: String(situation.step) },
      },
    }
    return [{ method: 'POST', path: `~/branches/${branch}/cherry-pick`, json }, ...looksAt(branch)]
  },
  pickPlainly(dice, situation) {
    const branch = dice.pick(BRANCHES)
    const json = { ref: refOf(dice, situation), ...dice.some(2, { parent_number: 1 }) }
    return [{ method: 'POST', path: `~/branches/${branch}/cherry-pick`, json }, ...looksAt(branch)]
  },
  reset(dice) {
    const branch = branchOf(dice)
    const json = dice.pick([
      { type: 'reset' },
      { type: 'object', path: dice.pick(PATHS) },
      { type: 'common_prefix', path: dice.pick(PREFIXES) },
      { type: 'common_prefix', path: dice.pick(PREFIXES) },
      { type: 'other' },
      { type: 'object' },
    ])
    return [{ method: 'PUT', path: `~/branches/${branch}`, json }, ...looksAt(branch)]
  },
  hardReset(dice, situation) {
    const branch = branchOf(dice)
    const query = {
      ...(dice.once(20) ? {} : { ref: refOf(dice, situation) }),
      ...dice.some(5, { force: true }),
    } as Record<string, string>
    return [{ method: 'PUT', path: `~/branches/${branch}/hard_reset`, query }, ...looksAt(branch)]
  },
  createBranch(dice, situation) {
    const name = dice.once(12) ? dice.pick(['-x', 'a/b', 'a.b', 'é', '']) : dice.pick(BRANCHES)
    const json = { name, source: refOf(dice, situation), ...dice.some(6, { hidden: true }) }
    return [{ method: 'POST', path: '~/branches', json }]
  },
  deleteBranch(dice) {
    return [{ method: 'DELETE', path: `~/branches/${branchOf(dice)}` }]
  },
  createTag(dice, situation) {
    const id = dice.once(10) ? dice.pick(['a/b', 'a b', 'x.', '']) : dice.pick(TAGS)
    return [{ method: 'POST', path: '~/tags', json: { id, ref: refOf(dice, situation) } }]
  },
  deleteTag(dice) {
    return [{ method: 'DELETE', path: `~/tags/${dice.pick(TAGS)}` }]
  },
  readRefs(dice) {
    const page = pageOf(dice, ['b', 'x1', 'main', 't1', 'zz'])
    return [
      {
        method: 'GET',
        path: '~/branches',
        query: { ...page, ...dice.some(3, { show_hidden: true }) } as Record<string, string>,
      },
      { method: 'GET', path: '~/tags', query: page },
      { method: 'GET', path: `~/tags/${dice.pick(TAGS)}` },
      { method: 'GET', path: `~/branches/${dice.pick([...BRANCHES, 'missing', 't1'])}` },
    ]
  },
  readCommits(dice, situation) {
    const ref = enc(refOf(dice, situation))
    const query = {
      ...dice.some(3, { amount: dice.pick([1, 2, 3, 0, -1, 1001]), first_parent: true, limit: true }),
      ...dice.some(5, { after: refOf(dice, situation), stop_at: refOf(dice, situation) }),
      ...dice.some(5, { objects: dice.pick(PATHS), prefixes: dice.pick(PREFIXES.slice(1)) }),
    } as Record<string, string>
    return [
      { method: 'GET', path: `~/commits/${ref}` },
      { method: 'GET', path: `~/refs/${ref}/commits`, query },
    ]
  },
  diff(dice, situation) {
    const [left, right] = [enc(refOf(dice, situation)), enc(refOf(dice, situation))]
    const query = {
      ...pageOf(dice, PATHS),
      ...dice.some(2, { type: dice.pick(['two_dot', 'three_dot', 'two_dot', 'other']) }),
      ...dice.some(4, { delimiter: '/', include_right_stats: true }),
    } as Record<string, string>
    return [
      { method: 'GET', path: `~/refs/${left}/diff/${right}`, query },
      { method: 'GET', path: `~/refs/${left}/merge/${right}` },
    ]
  },
  diffUncommitted(dice) {
    const query = { ...pageOf(dice, PATHS), ...dice.some(3, { delimiter: '/' }) } as Record<string, string>
    return [{ method: 'GET', path: `~/branches/${branchOf(dice)}/diff`, query }]
  },
  list(dice, situation) {
    const query = {
      ...pageOf(dice, PATHS),
      ...dice.some(3, { delimiter: dice.pick(['/', '/', 'e']), user_metadata: dice.pick([true, false]) }),
    } as Record<string, string>
    return [{ method: 'GET', path: `~/refs/${enc(refOf(dice, situation))}/objects/ls`, query }]
  },
  read(dice, situation) {
    const ref = enc(refOf(dice, situation))
    const path = dice.pick(PATHS)
    const headers = dice.some(2, {
      range: dice.pick([
        'bytes=0-0',
        'bytes=1-',
        'bytes=-2',
        'bytes=5-2',
        'bytes=99-',
        'bytes=0-1,2-3',
        'lines=1',
        'bytes=0-99',
      ]),
    })
    const range = headers as Record<string, string>
    return [
      { method: 'GET', path: `~/refs/${ref}/objects`, query: { path }, headers: range },
      { method: 'HEAD', path: `~/refs/${ref}/objects`, query: { path }, headers: range },
      {
        method: 'GET',
        path: `~/refs/${ref}/objects/stat`,
        query: { path, ...dice.some(3, { user_metadata: false }) },
      },
    ]
  },
} satisfies Record<string, Make>

type Kind = keyof typeof KINDS

const WEIGHTS: Readonly<Record<Kind, number>> = {
  upload: 12,
  remove: 3,
  removeSome: 2,
  copy: 2,
  setMetadata: 1,
  commit: 9,
  badCommit: 1,
  merge: 8,
  revert: 4,
  cherryPick: 4,
  pickPlainly: 0,
  reset: 4,
  hardReset: 5,
  createBranch: 6,
  deleteBranch: 1,
  createTag: 2,
  deleteTag: 1,
  readRefs: 1,
  readCommits: 3,
  diff: 4,
  diffUncommitted: 1,
  list: 3,
  read: 3,
}

export function callsOf({ kind, dice }: Step, situation: Situation): readonly Call[] {
  return (KINDS[kind] as Make)(new Dice(dice), situation)
}

export function history(maxSteps: number): fc.Arbitrary<readonly Step[]> {
  const kind = fc.oneof(
    ...Object.entries(WEIGHTS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Kind) })),
  )
  const dice = fc.array(fc.nat(9999), { minLength: DICE, maxLength: DICE })
  const steps = fc.array(fc.record({ kind, dice }), { minLength: 1, maxLength: maxSteps, size: 'max' })
  return fc
    .tuple(steps, fc.record({ kind: fc.constant('pickPlainly' as const), dice }))
    .map(([most, last]) => [...most, last])
}
