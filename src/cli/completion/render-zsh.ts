import { choicePlaces, firstSentence, innerPaths, optionPlaces, quoted, row } from './tables.ts'
import type { CommandShape, Described } from './shape.ts'

/** For a file `_perago` in a directory of `fpath`, or for `eval` after `compinit`. */
export function renderZsh(shapes: readonly CommandShape[]): string {
  const free = (kind: string): readonly string[] =>
    optionPlaces(shapes, ({ value, choices }) => value === kind && choices.length === 0)
  return `#compdef perago
# zsh completion for perago; "perago completion zsh" prints it.
_perago() {
  local at=perago word
  local -i i=2
  local -a offered
  while (( i < CURRENT )); do
    word=$words[i]
    case "$at $word" in
${[
  ...row(innerPaths(shapes), 'at="$at $word"'),
  ...row(
    optionPlaces(shapes, () => true),
    '(( i++ ))',
  ),
].join('\n')}
    esac
    (( i++ ))
  done
  case "$at $words[CURRENT-1]" in
${[
  ...[...choicePlaces(shapes)].flatMap(([list, places]) => row(places, `compadd -- ${list}; return`)),
  ...row(free('files'), '_files; return'),
  ...row(free('directories'), '_files -/; return'),
  ...row(free('other'), 'return 1'),
].join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $at in
${shapes
  .flatMap(({ path, options }) => row([path], `offered=(${options.flatMap(named).map(entry).join(' ')})`))
  .join('\n')}
    esac
    _describe option offered
    return
  fi
  case $at in
${shapes.flatMap((shape) => row([shape.path], follow(shape))).join('\n')}
  esac
}
if [[ $funcstack[1] == _perago ]]; then _perago "$@"; else compdef _perago perago; fi
`
}

function named({ names, about }: CommandShape['options'][number]): readonly Described[] {
  return names.map((name) => ({ name, about }))
}

function follow({ words, arguments: kind }: CommandShape): string {
  if (words.length > 0) return `offered=(${words.map(entry).join(' ')}); _describe command offered`
  if (kind === 'other') return 'return 1'
  return kind === 'files' ? '_files' : '_files -/'
}

/** `_describe` splits at the first colon that stands alone. */
function entry({ name, about }: Described): string {
  const text = firstSentence(about)
  return quoted(`${name.replaceAll(':', '\\:')}${text === '' ? '' : `:${text}`}`)
}
