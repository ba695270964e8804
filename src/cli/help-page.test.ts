import type { Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { plainRedactor } from '../base/redaction.ts'
import { buildProgram } from './program.ts'
import { styleFor, type Terminal } from './terminal.ts'

/** Passes on the results, and drops the rest. */
function listening(answer: (text: string) => void): Terminal {
  return {
    answer,
    say: () => undefined,
    directory: '/',
    environment: {},
    style: styleFor({}, {}),
    redactor: plainRedactor,
    keepSecret: () => undefined,
    stopSignal: () => AbortSignal.abort(),
  }
}

/** From this many commands on, an option is described once at the top of the page. */
const SHARED_BY_MIN = 3

function renderPage(): string {
  let help = ''
  const program = buildProgram(listening((text) => (help += text)))
  // What a group can do is said in the list above its commands.
  const commands = withInner(program).filter((command) => !isGroup(command))
  const shared = sharedOptions(commands)
  const sections = commands.map((command) => {
    help = ''
    command
      .configureOutput({ getOutHelpWidth: () => 100, getOutHasColors: () => false })
      .configureHelp({ visibleOptions: ({ options }) => options.filter((option) => !isShared(option)) })
      .outputHelp()
    const also = command.options.filter(isShared).map(({ long }) => `\`${long ?? ''}\``)
    return [
      `## ${nameOf(command)}`,
      `\`\`\`text\n${help.trimEnd()}\n\`\`\``,
      ...(also.length === 0 ? [] : [`Shared options: ${also.join(', ')}.`]),
    ].join('\n\n')
  })
  return `# The command line

Results go to standard output; notes, log lines and errors to standard error. With \`--json\` a command prints one JSON document. An
error is one line with its [code](errors.md) and what to do; the exit code shows its kind:

| exit code | meaning |
|---|---|
| 0 | done |
| 2 | wrong input or configuration, or something was not found |
| 3 | refused by a fence or a state |
| 4 | a server could not be reached or was busy, or its response was lost: read the state before you repeat |
| 70 | internal error |

The first SIGINT or SIGTERM stops \`perago lakefs\` in order, with exit code 0; a second one stops it at once. No acknowledged write is
lost. Shared options, where a command lists them ([all settings](configuration.md)):

| option | meaning |
|---|---|
${[...shared].map(([flags, about]) => `| \`${flags}\` | ${about} |`).join('\n')}

A test writes this page; after a change run \`npx vitest run src/cli/help-page.test.ts -u\`.

${sections.join('\n\n')}
`

  function isShared(option: Option): boolean {
    return shared.get(option.flags) === describe(option)
  }
}

/** By its flags, what an option means for most of the commands that have it. */
function sharedOptions(commands: readonly Command[]): ReadonlyMap<string, string> {
  const counts = new Map<string, Map<string, number>>()
  for (const option of commands.flatMap(({ options }) => options)) {
    const meanings = counts.get(option.flags) ?? new Map<string, number>()
    counts.set(option.flags, meanings.set(describe(option), (meanings.get(describe(option)) ?? 0) + 1))
  }
  const most = [...counts].map(
    ([flags, meanings]) => [flags, ...[...meanings].sort(([, one], [, other]) => other - one)[0]!] as const,
  )
  return new Map(most.filter(([, , count]) => count >= SHARED_BY_MIN).map(([flags, about]) => [flags, about]))
}

function describe({ description, argChoices, defaultValue }: Option): string {
  const choices =
    argChoices === undefined ? '' : `: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`
  return `${description}${choices}${defaultValue === undefined ? '' : ` (default: ${String(defaultValue)})`}`
}

function isGroup(command: Command): boolean {
  return command.parent !== null && command.commands.length > 0 && command.options.length === 0
}

function withInner(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withInner)]
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

test('CL-06 the reference page shows the help of every command, options that several share once', async () => {
  await expect(renderPage()).toMatchFileSnapshot('../../docs/reference/cli.md')
})

test('CL-05 colours are for terminals, and NO_COLOR turns them off', () => {
  const coloured = (stream: { isTTY?: boolean }, environment: Record<string, string>): boolean =>
    styleFor(stream, environment).bad('x') !== 'x'
  expect(coloured({ isTTY: true }, {})).toBe(true)
  expect(coloured({ isTTY: true }, { NO_COLOR: '' })).toBe(true)
  expect(coloured({ isTTY: true }, { NO_COLOR: '1' })).toBe(false)
  expect(coloured({ isTTY: true }, { TERM: 'dumb' })).toBe(false)
  expect(coloured({}, {})).toBe(false)
})
