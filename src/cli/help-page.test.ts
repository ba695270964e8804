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

/** From this many commands on, an argument or option is described once at the top of the page. */
const SHARED_BY_MIN = 3

/** What most commands take: a section names only those that its command does not take. */
const USUAL = ['--config', '--log-level', '--json']

function renderPage(): string {
  let help = ''
  const program = buildProgram(listening((text) => (help += text)))
  const all = withInner(program)
  const commands = all.filter((command) => !isGroup(command))
  const sharedOptions = mostOften(
    commands.flatMap(({ options }) => options.map((option) => [option.flags, describe(option)])),
  )
  const sharedArguments = mostOften(
    commands.flatMap(({ registeredArguments }) =>
      registeredArguments.map((argument) => [argument.name(), argument.description]),
    ),
  )
  const isShared = (option: Option): boolean => sharedOptions.get(option.flags) === describe(option)
  const sections = commands.map((command) => {
    help = ''
    // The headings of the page list the commands.
    command
      .description(command.description() || command.summary())
      .configureOutput({ getOutHelpWidth: () => 100, getOutHasColors: () => false })
      .configureHelp({
        visibleCommands: () => [],
        visibleOptions: ({ options }) => options.filter((option) => !isShared(option)),
        visibleArguments: ({ registeredArguments }) =>
          registeredArguments.filter(
            (argument) => sharedArguments.get(argument.name()) !== argument.description,
          ),
      })
      .outputHelp()
    // The heading has the usage, too.
    const [usage = '', ...parts] = help.trimEnd().split('\n\n')
    // One example without options, of a command without any of its own, shows no more than the heading.
    const rest =
      parts.length === 2 ? parts.filter((part) => !/^Example:\n {2}\$ perago (?!.*--)/.test(part)) : parts
    return [
      `## \`${usage.replace(/^Usage: | \[(?:options|command)\]/g, '')}\``,
      `\`\`\`text\n${rest.join('\n\n')}\n\`\`\``,
      ...notesOn(command, command.options.filter(isShared)),
    ].join('\n\n')
  })
  const groups = all
    .filter(isGroup)
    .map((command) => `- \`${nameOf(command)} …\`: ${command.summary() || command.description()}`)
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
lost.

\`perago --help\` lists the commands. Some form a group:

${groups.join('\n')}

Arguments that have one meaning nearly everywhere:

${[...sharedArguments].map(([name, about]) => `- \`<${name}>\`: ${about}`).join('\n')}

Options that several commands take ([all settings](configuration.md)). Unless its section says otherwise, a command takes
${USUAL.map((long) => `\`${long}\``).join(', ')}; it takes the others where its section names them.

${[...sharedOptions].map(([flags, about]) => `- \`${flags}\`: ${about}`).join('\n')}

A test writes this page; after a change run \`npx vitest run src/cli/help-page.test.ts -u\`.

${sections.join('\n\n')}
`
}

/** Which shared options the command takes besides the usual ones, and which usual ones it does not take. */
function notesOn(command: Command, shared: readonly Option[]): readonly string[] {
  if (command.parent === null) return []
  const taken = command.options.map(({ long }) => long)
  const also = shared.filter(({ long }) => !USUAL.includes(long ?? '')).map(({ long }) => `\`${long ?? ''}\``)
  const not = USUAL.filter((long) => !taken.includes(long)).map((long) => `\`${long}\``)
  const notes = [
    ...(also.length === 0 ? [] : [`Also: ${also.join(', ')}.`]),
    ...(not.length === 0 ? [] : [`Not: ${not.join(', ')}.`]),
  ]
  return notes.length === 0 ? [] : [notes.join(' ')]
}

/** By its name, what an argument or option means for most of the commands that have it. */
function mostOften(found: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  const counts = new Map<string, Map<string, number>>()
  for (const [name, about] of found) {
    const meanings = counts.get(name) ?? new Map<string, number>()
    counts.set(name, meanings.set(about, (meanings.get(about) ?? 0) + 1))
  }
  const most = [...counts].map(
    ([name, meanings]) => [name, ...[...meanings].sort(([, one], [, other]) => other - one)[0]!] as const,
  )
  return new Map(most.filter(([, , count]) => count >= SHARED_BY_MIN).map(([name, about]) => [name, about]))
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

test('CL-06 the reference page shows the help of every command, what several share once', async () => {
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
