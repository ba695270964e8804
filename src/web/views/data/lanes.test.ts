import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HistoryRows, type Aside } from './history-rows.ts'
import { Lanes } from './lanes.ts'
import { type CommitLike } from './publication.ts'

/** Children before parents: each commit's parents are later ones. */
const history = fc
  .array(fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }), { minLength: 1, maxLength: 30 })
  .map((steps) =>
    steps.map((ahead, index): CommitLike => {
      const parents = [...new Set(ahead.map((step) => index + step).filter((at) => at < steps.length))]
      return { id: String(index), parents: parents.map(String), message: '', metadata: {} }
    }),
  )

describe('lanes', () => {
  test('WB-25 every line that leaves a commit reaches its parent, through all rows between', () => {
    fc.assert(
      fc.property(history, (commits) => {
        const lanes = new Lanes()
        const rows = commits.map((commit) => lanes.add(commit))
        commits.forEach(({ parents }, index) => {
          const starts = rows[index]!.lines.filter(({ from }) => from === undefined)
          expect(starts).toHaveLength(parents.length)
          const reached = starts.map(({ to }) => {
            for (let row = index + 1, lane = to; ; row += 1) {
              const next = rows[row]!.lines.find(({ from }) => from === lane)!
              if (next.to === undefined) return String(row)
              lane = next.to
            }
          })
          expect(reached.sort()).toEqual([...parents].sort())
        })
        for (const { lines, lane, width } of rows)
          for (const { from = 0, to = 0 } of lines) expect(Math.max(from, to, lane)).toBeLessThan(width)
      }),
    )
  })

  test('WB-25 a straight line stays in the first lane', () => {
    const lanes = new Lanes()
    expect(lanes.add({ id: 'b', parents: ['a'] })).toEqual({
      lane: 0,
      lines: [{ from: undefined, to: 0, isAside: false }],
      width: 1,
    })
    expect(lanes.add({ id: 'a', parents: [] })).toEqual({
      lane: 0,
      lines: [{ from: 0, to: undefined, isAside: false }],
      width: 1,
    })
  })
})

describe('rows of a history', () => {
  const line = ['d', 'c', 'b', 'a'].map((id, at, all): CommitLike => {
    const parent = all[at + 1]
    return { id, parents: parent === undefined ? [] : [parent], message: id, metadata: {} }
  })
  const aside = (id: string, parent: string): Aside<CommitLike> => ({
    commit: { id, parents: [parent], message: id, metadata: {} },
    ...{ kind: 'superseded', keptBy: `perago-superseded-${id}` },
  })

  test('WB-26 what has left the branch stands above the commit that it was made from, beside the line', () => {
    const rows = new HistoryRows({ isOwnLine: false }).of(line, [
      aside('y', 'x'),
      aside('x', 'b'),
      aside('unknown', 'elsewhere'),
    ])
    expect(rows.map(({ commit, lanes }) => `${commit.id}${String(lanes.lane)}`)).toEqual([
      ...['d0', 'c0', 'y1', 'x1', 'b0', 'a0'],
    ])
    expect(rows[3]).toMatchObject({ kind: 'superseded', keptBy: 'perago-superseded-x' })
  })

  test('WB-26 what left the head of the branch does not push the branch aside', () => {
    const rows = new HistoryRows({ isOwnLine: false }).of(line, [aside('x', 'd'), aside('y', 'd')])
    expect(rows.map(({ commit, lanes }) => `${commit.id}${String(lanes.lane)}`)).toEqual([
      ...['x1', 'y2', 'd0', 'c0', 'b0', 'a0'],
    ])
  })

  test('WB-26 a kept commit that the branch still holds is shown once', () => {
    const rows = new HistoryRows({ isOwnLine: false }).of(line, [aside('c', 'b')])
    expect(rows.map(({ commit, kind }) => `${commit.id} ${kind}`)).toEqual([
      'd line',
      'c line',
      'b line',
      'a line',
    ])
  })

  test('WB-25 page by page gives the same rows as all at once', () => {
    fc.assert(
      fc.property(history, fc.nat(30), (commits, cut) => {
        const asides = [aside('x', '3'), aside('y', '20')]
        const rows = new HistoryRows({ isOwnLine: false })
        rows.of(commits.slice(0, cut), asides)
        expect(rows.of(commits, asides)).toEqual(new HistoryRows({ isOwnLine: false }).of(commits, asides))
      }),
    )
  })

  test('WB-27 the commits by which a publication was merged are one row with it', () => {
    const run = { 'publish.run': 'r1' }
    const commits: CommitLike[] = [
      { id: 'm', parents: ['a', 's'], message: 'publish', metadata: run },
      { id: 's', parents: ['a'], message: 'publish', metadata: run },
      { id: 'a', parents: [], message: 'begin', metadata: {} },
    ]
    const rows = new HistoryRows({ isOwnLine: false }).of(commits, [])
    expect(rows.map(({ commit, folded }) => [commit.id, folded])).toEqual([
      ['m', 1],
      ['a', 0],
    ])
    expect(rows.map(({ lanes }) => lanes.width)).toEqual([1, 1])
  })

  test('WB-25 where only the own line of a branch is listed, no line leads to what is not', () => {
    const commits: CommitLike[] = [
      { id: 'm', parents: ['a', 's'], message: 'merge', metadata: {} },
      { id: 'a', parents: [], message: 'begin', metadata: {} },
    ]
    const rows = new HistoryRows({ isOwnLine: true }).of(commits, [])
    expect(rows.map(({ lanes }) => lanes.width)).toEqual([1, 1])
  })

  test("WB-27 a person's merge keeps both its lines", () => {
    const commits: CommitLike[] = [
      { id: 'm', parents: ['a', 's'], message: 'merge', metadata: {} },
      { id: 's', parents: ['a'], message: 'work', metadata: {} },
      { id: 'a', parents: [], message: 'begin', metadata: {} },
    ]
    const rows = new HistoryRows({ isOwnLine: false }).of(commits, [])
    expect(rows.map(({ commit, lanes }) => `${commit.id}${String(lanes.lane)}`)).toEqual(['m0', 's1', 'a0'])
  })
})
