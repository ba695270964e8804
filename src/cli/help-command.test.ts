// In this process: what is printed does not depend on how the command was started.
import { expect, test } from 'vitest'
import { openTestTerminal } from '../../test/support/cli/test-terminal.ts'
import { runCli } from './run.ts'

async function run(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  const { terminal, printed, said } = openTestTerminal()
  const code = await runCli(args, terminal)
  return { code, printed: printed(), said: said() }
}

test.each([[['run']], [['store', 'verify']], [['lakefs', 'credentials']], [['help']], [[]]])(
  'CL-180 perago help %j prints what --help after the command prints',
  async (path) => {
    const help = await run('help', ...path)
    expect(help).toEqual(await run(...path, '--help'))
    expect(help).toMatchObject({ code: 0, said: '' })
    expect(help.printed).toContain(`Usage: ${['perago', ...path].join(' ')}`)
  },
)

test.each(['cache', 'fence', 'store', 'token', 'webhooks'])(
  'CL-181 perago %s alone prints the help of the group and ends with 0',
  async (group) => {
    expect(await run(group)).toEqual(await run(group, '--help'))
    expect(await run(group)).toMatchObject({ code: 0, said: '' })
  },
)

test.each([
  [['stroe'], 'Did you mean store?'],
  [['store', 'verfy'], 'Did you mean verify?'],
  [['lakefs', 'credentails'], 'Did you mean "perago lakefs credentials"?'],
  [['help', 'stroe'], 'Did you mean "perago store"?'],
  [['help', 'store', 'verfy'], 'Did you mean "perago store verify"?'],
  [['help', 'nonsense'], 'See "perago --help" for its commands.'],
])('CL-182 %j: no such command, and what was meant is named', async (args, hint) => {
  const { code, printed, said } = await run(...args)
  expect([code, printed]).toEqual([2, ''])
  expect(said).toMatch(/^perago: read the command line: .* \[cli\/bad-usage\]\. .+\n$/)
  expect(said).toContain(hint)
})
