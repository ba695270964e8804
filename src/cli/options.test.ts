import { expect, test } from 'vitest'
import { openTestTerminal } from '../../test/support/cli/test-terminal.ts'
import { parseSeconds } from './options.ts'
import { runCli } from './run.ts'

test.each([
  ['25', 25],
  ['25s', 25],
  ['1m', 60],
  ['1.5 min', 90],
  ['2h', 7_200],
])('CL-186 the deadline %j is %d seconds', (text, seconds) => {
  expect(parseSeconds(text)).toBe(seconds)
})

test.each([
  [['start', 'tasks.ts', '--stop-deadline', 'soon'], 'It is a duration from 1s to 24h, such as 30s or 5m.'],
  [['start', 'tasks.ts', '--stop-deadline', '0s'], 'It is a duration from 1s to 24h, such as 30s or 5m.'],
  [['start', 'tasks.ts', '--cache-size', '5 potatoes'], 'expected a size such as 10GiB, 64MiB or 1g, or 0'],
  [['sweep', '--keep-events', '30'], 'expected a duration such as 30s, 5m, 12h or 30d, or "forever"'],
  [['gc', 'lake', '--older-than', '30'], 'Write a number and a unit, such as 5m, 12h or 7d.'],
  [
    ['webhooks', 'add', 'http://a/', '--type', 'a', '--delay', '5'],
    'A delay is a duration such as 5s or 1m.',
  ],
  [['token', 'create', '--name', 'a', '--expires-in', 'x'], 'A lifetime is a duration such as 12h or 30d'],
])('CL-186 %j is refused, and the form is named', async (args, form) => {
  const { terminal, said } = openTestTerminal()
  expect(await runCli(args, terminal)).toBe(2)
  expect(said()).toContain(form)
})
