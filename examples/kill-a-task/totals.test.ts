import { tryEveryCrash } from 'perago/testing'
import { expect, test } from 'vitest'
import { totalling } from './totals.ts'

const files = { 'sales/2026-01-15.csv': '3\n4\n', 'totals/2026-01-14.txt': '5\n' }
const params = { day: '2026-01-15' }

test('killed anywhere, it publishes the total once, and the message has one id', async () => {
  const sent = new Map<string, number>()
  const figures = await tryEveryCrash({
    task: totalling(({ id, total }) => sent.set(id, total)),
    params,
    files,
    before: () => sent.clear(),
    check: ({ files, result }) => {
      expect(files['totals/2026-01-15.txt']).toBe('7\n')
      expect(files['totals/2026-01-14.txt']).toBe('5\n')
      expect(result).toEqual({ total: 7 })
      expect([...sent]).toEqual([['total-2026-01-15', 7]])
    },
  })
  console.log(`${figures.cases} cases, ${figures.crashes} crashes, ${figures.attempts} attempts`)
  expect(figures.isEveryPointTried).toBe(true)
}, 120_000)

test('without an id the message would come twice, and the story says when', async () => {
  const sent: number[] = []
  const trying = tryEveryCrash({
    task: totalling(({ total }) => sent.push(total)),
    params,
    files,
    before: () => sent.splice(0),
    check: () => expect(sent).toEqual([7]),
  })
  await expect(trying).rejects.toThrow(
    /the check of the test failed[^]*replay: hard[^]*claim-1: end the body/,
  )
}, 120_000)
