/** Runs a command: from arguments to an exit code. */

import { CommanderError, type Command } from 'commander'
import { describeError, renderError, type ErrorDescription } from '../base/error-description.ts'
import { EXIT_CODE, InvalidError } from '../base/errors.ts'
import { oneLine, printableJson } from '../base/one-line.ts'
import { misspeltIn } from './help-command.ts'
import { buildProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Resolves with the exit code. Never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = buildProgram(terminal)
    await parse(program, args.length === 0 ? ['--help'] : args)
    return 0
  } catch (error) {
    return showFailure(error, args, terminal)
  }
}

/** A group without a command has shown its help, as `perago` alone does: that is no failure. */
async function parse(program: Command, args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw badUsage(error, program)
  }
}

/** Shows an error, on one line or as one document, and returns its exit code. */
export function showFailure(error: unknown, args: readonly string[], terminal: Terminal): number {
  const description = describeError(error, terminal.redactor)
  terminal.say(
    args.includes('--json') ? asDocument(description) : asSentences(description, error, args, terminal),
  )
  return EXIT_CODE[description.kind]
}

function asDocument(description: ErrorDescription): string {
  return `${printableJson({ error: description })}\n`
}

function asSentences(
  description: ErrorDescription,
  failure: unknown,
  args: readonly string[],
  { style, redactor }: Terminal,
): string {
  const lines = [`${style.bad('perago:')} ${renderError(description)}`]
  lines.push(...problemsBeyond(description).map((problem) => `  - ${problem}`))
  if (description.kind === 'defect' || wantsDebug(args)) {
    for (const { code, message } of description.causes ?? []) {
      lines.push(style.faint(`  because: ${message}${code === undefined ? '' : ` [${code}]`}`))
    }
  }
  if (wantsDebug(args) && failure instanceof Error && failure.stack !== undefined) {
    lines.push(style.faint(redactor.text(failure.stack)))
  }
  return `${lines.join('\n')}\n`
}

/** The problems that are not in the message. */
function problemsBeyond({ message, details }: ErrorDescription): readonly string[] {
  const problems: unknown = details?.['problems']
  if (!Array.isArray(problems)) return []
  return problems
    .map((problem: unknown) => oneLine(problemText(problem)))
    .filter((problem) => !message.includes(problem))
}

function problemText(problem: unknown): string {
  if (typeof problem === 'string') return problem
  const { path, problem: what } = problem as { readonly path?: unknown; readonly problem?: unknown }
  return typeof path === 'string' && typeof what === 'string' ? `${path}: ${what}` : JSON.stringify(problem)
}

function wantsDebug(args: readonly string[]): boolean {
  return /(?:^|\s)--log-level[\s=](?:debug|trace)(?:\s|$)/.test(args.join(' '))
}

/** Commander puts its guess on a second line and "error:" before the first. */
function badUsage(error: CommanderError, program: Command): InvalidError {
  const misspelt = error.code === 'commander.excessArguments' ? misspeltIn(program) : undefined
  if (misspelt !== undefined) return misspelt
  const [what = '', guess] = error.message.replace(/^error: /, '').split('\n')
  const hint = guess === undefined ? '' : ` ${guess}`
  return new InvalidError('cli/bad-usage', `read the command line: ${what}${hint}`, {
    next: 'See perago --help, or --help after any command.',
  })
}
