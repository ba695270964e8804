/** What can be completed, read off the commands themselves. */

import type { Command, Option } from 'commander'

export interface CommandShape {
  /** With the names of the commands above it: `perago store verify`. */
  readonly path: string
  readonly about: string
  /** The names of its inner commands, or the choices of its argument. */
  readonly words: readonly Described[]
  readonly options: readonly OptionShape[]
  readonly arguments: ValueKind
}

export interface Described {
  readonly name: string
  readonly about: string
}

export interface OptionShape extends Described {
  /** `--root`, and `-o` where it has one. */
  readonly names: readonly string[]
  /** `undefined` for an option without a value. */
  readonly value: ValueKind | undefined
  readonly choices: readonly string[]
}

/** `other`: nobody can know it. */
export type ValueKind = 'files' | 'directories' | 'other'

export function readShapes(program: Command): readonly CommandShape[] {
  const outer = program.commands.map(describe)
  const read = (command: Command, above: string): readonly CommandShape[] => {
    const path = `${above}${command.name()}`
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
    const shape: CommandShape = {
      path,
      about: command.summary() || command.description(),
      words: [
        // `perago help` is followed by the name of a command.
        ...(path === `${program.name()} help` ? outer : command.commands.map(describe)),
        ...choices.map((name) => ({ name, about: '' })),
      ],
      options: [...command.options, ...helpOption(command)].map(readOption),
      arguments: kindOf(command.registeredArguments.map((argument) => argument.name())),
    }
    return [shape, ...command.commands.flatMap((inner) => read(inner, `${path} `))]
  }
  return read(program, '')
}

function describe(command: Command): Described {
  return { name: command.name(), about: command.summary() || command.description() }
}

/** It is no option like the others to commander. */
function helpOption(command: Command): readonly Option[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long === '--help')
}

function readOption({
  long,
  short,
  required,
  optional,
  flags,
  argChoices,
  description,
}: Option): OptionShape {
  const names = [long, short].filter((name) => name !== undefined)
  const value = /[<[]([^>\].]+)/.exec(flags)?.[1] ?? ''
  return {
    name: names[0] ?? '',
    names,
    about: description,
    value: required || optional ? kindOf([value]) : undefined,
    choices: argChoices ?? [],
  }
}

const FILES = /^(?:file|files|module)$/
const DIRECTORIES = /^(?:dir|directory)$/

/** By what its help calls it. */
function kindOf(names: readonly string[]): ValueKind {
  if (names.some((name) => FILES.test(name))) return 'files'
  return names.some((name) => DIRECTORIES.test(name)) ? 'directories' : 'other'
}
