// The comparison with what people ask for claims nothing that no test proves.
import { expect, test } from 'vitest'
import { readText } from './support/source-tree.ts'

const page = readText('docs/reference/compared.md')
const rows = page
  .split('\n')
  .filter((line) => /^\| +\d+ \|/.test(line))
  .map((line) => line.slice(1, -1).split(' | '))
  .map(([number = '', , , verdict = '', , promises = '']) => ({
    number: Number(number),
    verdict: verdict.trim(),
    promises: [...promises.matchAll(/\[([A-Z]+-\d+)\]\(\.\.\/(specs\/[\w-]+\.md)\)/g)],
  }))

test('HO-50 the comparison has every demand once, and its counts are those of its rows', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 65 }, (_, index) => index + 1))
  const [, ...told] =
    /\*\*(\d+) are met, (\d+)\s+partly, (\d+) not\.\*\*/.exec(page.replaceAll('\n', ' ')) ?? []
  const counted = ['yes', 'partly', 'no'].map((word) => rows.filter(({ verdict }) => verdict === word).length)
  expect(told.map(Number)).toEqual(counted)
  expect(counted.reduce((sum, count) => sum + count)).toBe(rows.length)
})

test('HO-50 a demand that is met names promises, each where it is made, and none that waits for its test', () => {
  const notYet = readText('docs/specs/not-yet.md')
  const wrong = rows.flatMap(({ number, verdict, promises }) => {
    if (promises.length === 0) return verdict === 'yes' ? [`${String(number)}: no promise`] : []
    return promises
      .filter(([, id = '', spec = '']) => {
        const isMade = readText(`docs/${spec}`).includes(`| ${id} |`)
        return !isMade || new RegExp(`\\b${id}\\b`).test(notYet)
      })
      .map(([, id = '']) => `${String(number)}: ${id}`)
  })
  expect(wrong).toEqual([])
})
