import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffLists, foldSame, linesOf, type Step } from './line-diff.ts'

const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })
const most = fc.constantFrom(0, 1, 3, 100)

describe('differences of lists', () => {
  test('WB-20 the steps give back both lists, whatever they are and however few differences are looked for', () => {
    fc.assert(
      fc.property(list, list, most, (before, after, limit) => {
        const { steps } = diffLists(before, after, limit)
        const kept = (kind: Step['kind']): readonly Step[] => steps.filter((step) => step.kind !== kind)
        expect(kept('added').map((step) => before[step.before])).toEqual(before)
        expect(kept('removed').map((step) => after[step.after])).toEqual(after)
        for (const step of steps.filter(({ kind }) => kind === 'same'))
          expect(before[step.before]).toBe(after[step.after])
      }),
    )
  })

  test('WB-20 no shorter difference exists where the lists are lined up', () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { steps, isAligned } = diffLists(before, after)
        expect(isAligned).toBe(true)
        expect(steps.filter(({ kind }) => kind === 'same')).toHaveLength(longestCommon(before, after))
      }),
    )
  })

  test('WB-20 lists that differ too much are shown one after the other, and said to be so', () => {
    const { steps, isAligned } = diffLists(['x', 'a', 'b', 'y'], ['x', 'b', 'a', 'y'], 1)
    expect(isAligned).toBe(false)
    expect(steps.map(({ kind }) => kind).join()).toBe('same,removed,removed,added,added,same')
  })
})

describe('lines', () => {
  test.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\nb', ['a', '', 'b']],
    ['\n', ['']],
  ])('WB-20 %j has its lines', (text, lines) => {
    expect(linesOf(text)).toEqual(lines)
  })

  test('WB-21 equal lines far from a change are left out until opened, and none is lost', () => {
    const before = Array.from({ length: 20 }, (_, index) => String(index))
    const after = before.map((line) => (line === '10' ? 'ten' : line))
    const { steps } = diffLists(before, after)
    const folded = foldSame(steps, new Set())
    expect(folded.map((piece) => ('step' in piece ? 1 : -piece.skipped.length))).toEqual([
      ...[-7, 1, 1, 1, 1, 1, 1, 1, 1, -6],
    ])
    expect(folded.flatMap((piece) => ('step' in piece ? [piece.step] : piece.skipped))).toEqual(steps)
    const [first] = folded
    if (first === undefined || 'step' in first) throw new Error('nothing is left out')
    expect(foldSame(steps, new Set([first.from]))).toHaveLength(7 + 8 + 1)
  })
})

function longestCommon(one: readonly string[], other: readonly string[]): number {
  const row = new Array<number>(other.length + 1).fill(0)
  for (const item of one) {
    let corner = 0
    other.forEach((also, index) => {
      const above = row[index + 1]!
      row[index + 1] = item === also ? corner + 1 : Math.max(above, row[index]!)
      corner = above
    })
  }
  return row[other.length]!
}
