// Goal: a simulated world fails as soon as one fence, check or retry rule is taken out of the code.
// Method: a few of the mutations here, all of them by hand: npm run mutate.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTATIONS } from './mutations.ts'

const RUN_MS = 90_000
/** Of those that are noticed within the first worlds, which are the same each time. */
const IN_THE_GATE = [
  'a merge carries its expectation',
  'a superseded commit gets its tag',
  'the guard checks the attempt',
  'a retry that adopts looks before it runs',
]

test('PU-198 the text of each mutation is in the code once, and there are at least 20', () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(20)
  const gone = MUTATIONS.filter(({ file, text }) => readFileSync(file, 'utf8').split(text).length !== 2)
  expect(gone).toEqual([])
})

test('PU-198 without any of a few of them a simulated world fails', { timeout: RUN_MS }, () => {
  const only = IN_THE_GATE.flatMap((name) => ['--only', name])
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/mutate.mjs', ...only], {
    encoding: 'utf8',
  })
  const count = IN_THE_GATE.length
  expect(`${stdout}${stderr}`).toContain(`${count} of ${count} mutations are noticed`)
  expect(status).toBe(0)
})
