// What the page tells people to run is what the command line takes.
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { buildProgram } from '../src/cli/program.ts'
import { openTestTerminal } from './support/cli/test-terminal.ts'
import { listFiles, readText } from './support/source-tree.ts'

const SHOWN = /run="((?:npx )?perago [^"]+)"|<code>(perago [^<]+)<\/code>/g

test('WB-08 every command that the page says to run exists and takes the options that are shown', () => {
  const program = buildProgram(openTestTerminal({ directory: '/' }).terminal)
  const hints = listFiles('src/web', (path) => path.endsWith('.tsx')).flatMap((path) =>
    [...readText(path).matchAll(SHOWN)].map(([, run, code]) => run ?? code ?? ''),
  )
  expect(hints.length).toBeGreaterThan(8)
  expect(hints.flatMap((hint) => problemOf(program, hint) ?? [])).toEqual([])
  expect(problemOf(program, 'perago tokens create NAME')).toBe(
    'perago tokens create NAME: no command "tokens"',
  )
  expect(problemOf(program, 'perago ui --porto')).toBe('perago ui --porto: no option --porto')
})

function problemOf(program: Command, hint: string): string | undefined {
  const [, ...words] = hint.replace(/^npx /, '').split(' ')
  let command = program
  while (command.commands.length > 0 && words[0] !== undefined && !words[0].startsWith('-')) {
    const inner = command.commands.find(
      (each) => each.name() === words[0] || each.aliases().includes(words[0] ?? ''),
    )
    if (inner === undefined && command.registeredArguments.length > 0) break
    if (inner === undefined) return `${hint}: no command "${words[0]}"`
    command = inner
    words.shift()
  }
  const unknown = words.find(
    (word) =>
      word.startsWith('--') &&
      !command.options.some(({ long, flags }) => long === word || flags.includes(word)),
  )
  return unknown === undefined ? undefined : `${hint}: no option ${unknown}`
}
