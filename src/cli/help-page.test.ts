import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { plainRedactor } from '../base/redaction.ts'
import { buildProgram } from './program.ts'
import { styleFor, type Terminal } from './terminal.ts'

/** Hears what is answered, and nothing else. */
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

function renderPage(): string {
  let help = ''
  const program = buildProgram(listening((text) => (help += text)))
  const sections = withInner(program).map((command) => {
    help = ''
    command.configureOutput({ getOutHelpWidth: () => 100, getOutHasColors: () => false }).outputHelp()
    return `## ${nameOf(command)}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`
  })
  return `# The command line

Answers go to standard output; notes, log lines and errors to standard error. \`--json\` gives one document instead of sentences.
An error is one line: what was being done, to what and what came back, its code, and what to do
([all codes](errors.md)). The exit code tells its kind:

| exit code | meaning |
|---|---|
| 0 | it is done |
| 2 | the input or configuration is wrong, or what was named is not there |
| 3 | a fence or a state said no |
| 4 | a server was not reached or was busy, or its answer was lost: look before you repeat |
| 70 | a mistake of ours |

The first SIGINT or SIGTERM ends \`perago lakefs\` in order, with exit code 0; a second one ends it at once. Nothing that was
acknowledged is lost either way. What the configuration can hold stands in [configuration](configuration.md).

This page is written from the commands themselves; after a change run \`npx vitest run src/cli/help-page.test.ts -u\`.

${sections.join('\n')}`
}

function withInner(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withInner)]
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

test('CL-06 the reference page shows the help of every command as it is', async () => {
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
