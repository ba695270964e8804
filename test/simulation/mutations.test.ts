// Goal: a simulated world fails as soon as one fence, check or retry rule is taken out of the code.
// Method: a few of the mutations here, in processes of their own; all of them by hand: npm run mutate.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTATIONS } from './mutations.ts'

const RUN_MS = 90_000
/** Of those that are noticed at once. */
const IN_THE_GATE = [
  'a merge carries its expectation',
  'a superseded commit gets its tag',
  'the guard checks the attempt',
]

test('PU-198 the text of each mutation is in the code once, and there are at least 20', () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(20)
  const gone = MUTATIONS.filter(({ file, text }) => readFileSync(file, 'utf8').split(text).length !== 2)
  expect(gone).toEqual([])
})

test.each(IN_THE_GATE)('PU-198 without it a simulated world fails: %s', { timeout: RUN_MS }, (name) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/mutate.mjs', '--only', name], {
    encoding: 'utf8',
  })
  expect(`${stdout}${stderr}`).toContain('1 of 1 mutations are noticed')
  expect(status).toBe(0)
})
