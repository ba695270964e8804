/** What the scripts of several shells look up: each row is a place, as `COMMAND OPTION`, and what follows there. */

import type { CommandShape, OptionShape } from './shape.ts'

/** Every command below the first, as its path. */
export function innerPaths(shapes: readonly CommandShape[]): readonly string[] {
  return shapes.slice(1).map(({ path }) => path)
}

/** Options with a value that fits, each as often as it has names. */
export function optionPlaces(
  shapes: readonly CommandShape[],
  fits: (option: OptionShape) => boolean,
): readonly string[] {
  return shapes.flatMap(({ path, options }) =>
    options
      .filter((option) => option.value !== undefined && fits(option))
      .flatMap(({ names }) => names.map((name) => `${path} ${name}`)),
  )
}

/** Places by the choices that they offer. */
export function choicePlaces(shapes: readonly CommandShape[]): ReadonlyMap<string, readonly string[]> {
  const lists = new Set(
    shapes.flatMap(({ options }) => options.map(({ choices }) => choices.join(' '))).filter(Boolean),
  )
  return new Map(
    [...lists].map((list) => [list, optionPlaces(shapes, ({ choices }) => choices.join(' ') === list)]),
  )
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The pattern of a `case` of a shell. */
function anyOf(texts: readonly string[]): string {
  return texts.map(quoted).join(' | ')
}

/** A row of a `case`, or none without a place. */
export function row(texts: readonly string[], action: string): readonly string[] {
  return texts.length === 0 ? [] : [`    ${anyOf(texts)}) ${action} ;;`]
}

export function firstSentence(about: string): string {
  return about.split(/(?<=[^.]\.)\s|; /)[0]?.replace(/\.$/, '') ?? ''
}
