import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { branchName, commitRef, type CommitRef } from '../base/ids.ts'
import {
  decidePublication,
  PublishFenceError,
  type PublishDecision,
  type PublishFacts,
} from './publish-fence.ts'

const ref = (digit: string): CommitRef => commitRef(digit.repeat(64))
const [A, B, C] = [ref('a'), ref('b'), ref('c')]
const COMMITS: readonly (CommitRef | undefined)[] = [undefined, A, B, C]

interface Row {
  readonly shape: string
  readonly head: CommitRef | undefined
  readonly headFirstParent: CommitRef | undefined
  readonly changed: PublishDecision
  readonly unchanged: PublishDecision
}

// The input ref is A throughout.
const SHAPES: readonly Row[] = [
  {
    shape: 'the head is the input',
    head: A,
    headFirstParent: C,
    changed: { action: 'merge' },
    unchanged: { action: 'complete' },
  },
  {
    shape: 'the head is the input and the first commit',
    head: A,
    headFirstParent: undefined,
    changed: { action: 'merge' },
    unchanged: { action: 'complete' },
  },
  {
    shape: 'the head stands directly above the input',
    head: B,
    headFirstParent: A,
    changed: { action: 'replace', supersededRef: B },
    unchanged: { action: 'relocate', supersededRef: B },
  },
  ...[
    { shape: 'the head stands two above the input', head: C, headFirstParent: B },
    { shape: 'the head has no parent and is not the input', head: B, headFirstParent: undefined },
    { shape: 'the branch went back below the input', head: C, headFirstParent: undefined },
  ].map((row): Row => {
    const refuse: PublishDecision = { action: 'refuse', reason: 'branch-moved' }
    return { ...row, changed: refuse, unchanged: refuse }
  }),
  {
    shape: 'there is no branch',
    head: undefined,
    headFirstParent: undefined,
    changed: { action: 'refuse', reason: 'branch-missing' },
    unchanged: { action: 'refuse', reason: 'branch-missing' },
  },
]

describe('the publish fence', () => {
  test.each(SHAPES)('F-29 $shape', ({ head, headFirstParent, changed, unchanged }) => {
    const facts = { inputRef: A, head, headFirstParent }
    expect(decidePublication({ ...facts, diffIsEmpty: false })).toEqual(changed)
    expect(decidePublication({ ...facts, diffIsEmpty: true })).toEqual(unchanged)
  })

  test('F-29 over every combination of commits exactly two states are accepted', () => {
    for (const inputRef of [A, B, C])
      for (const head of COMMITS)
        for (const headFirstParent of COMMITS)
          for (const diffIsEmpty of [true, false]) {
            const decision = decidePublication({ inputRef, head, headFirstParent, diffIsEmpty })
            const isAccepted = head === inputRef || (head !== undefined && headFirstParent === inputRef)
            expect(decision.action !== 'refuse').toBe(isAccepted)
          }
  })

  // Goal: which commits they are does not matter, only whether they are the same.
  test('F-29 the decision depends on equality of refs alone', () => {
    const digit = fc.constantFrom(...Array.from('0123456789abcdef'))
    fc.assert(
      fc.property(
        fc.uniqueArray(digit, { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        (digits, diffIsEmpty) => {
          const rename = new Map([A, B, C].map((from, index) => [from, ref(digits[index]!)]))
          const renamed = (of: CommitRef | undefined): CommitRef | undefined => of && rename.get(of)
          for (const head of COMMITS)
            for (const headFirstParent of COMMITS) {
              const plain = decidePublication({ inputRef: A, head, headFirstParent, diffIsEmpty })
              const other = decidePublication({
                inputRef: rename.get(A)!,
                head: renamed(head),
                headFirstParent: renamed(headFirstParent),
                diffIsEmpty,
              })
              expect(other).toEqual(
                'supersededRef' in plain ? { ...plain, supersededRef: renamed(plain.supersededRef) } : plain,
              )
            }
        },
      ),
    )
  })

  test('F-38 F-39 the publish fence gets input ref, head, first parent and whether anything changed, and no more', () => {
    expectTypeOf<keyof PublishFacts>().toEqualTypeOf<
      'inputRef' | 'head' | 'headFirstParent' | 'diffIsEmpty'
    >()
    const touched: PropertyKey[] = []
    const facts: PublishFacts = { inputRef: A, head: B, headFirstParent: A, diffIsEmpty: false }
    decidePublication(
      new Proxy(facts, { get: (of, key) => (touched.push(key), Reflect.get(of, key) as unknown) }),
    )
    expect(touched.sort()).toEqual(['diffIsEmpty', 'head', 'headFirstParent', 'inputRef'])
  })

  test('F-52 the error names two ways on: a new workflow from the current head, or an operator', () => {
    const error = new PublishFenceError('branch-moved', {
      branch: branchName('main'),
      inputRef: A,
      head: C,
      headFirstParent: B,
    })
    expect(error).toMatchObject({ kind: 'refused', code: 'fences/publish-refused', reason: 'branch-moved' })
    expect(error.details).toEqual({
      reason: 'branch-moved',
      branch: 'main',
      inputRef: A,
      head: C,
      headFirstParent: B,
    })
    expect(error.message).toContain(`its head is ${C}`)
    expect(error.next).toContain(`Start a new workflow from the current head ${C}`)
    expect(error.next).toContain('or let an operator decide from the facts in lakeFS')
  })
})
