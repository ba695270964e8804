import { choicePlaces, innerPaths, optionPlaces, quoted, row } from './tables.ts'
import type { CommandShape } from './shape.ts'

/** Bash splits words at `=` too: of `--log-level=debug` it makes three. Written for bash 3.2 and later. */
export function renderBash(shapes: readonly CommandShape[]): string {
  const withValue = optionPlaces(shapes, () => true)
  return `# bash completion for perago; "perago completion bash" prints it.
_perago() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at=perago i=1 word words
  if [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $cur == '=' ]]; then cur=; fi
  COMPREPLY=()
  while (( i < COMP_CWORD )); do
    word=\${COMP_WORDS[i]}
    case "$at $word" in
${[
  ...row(innerPaths(shapes), 'at="$at $word"'),
  ...row(withValue, 'i=$((i + 1)); if [[ ${COMP_WORDS[i]} == "=" ]]; then i=$((i + 1)); fi'),
].join('\n')}
    esac
    i=$((i + 1))
  done
  case "$at $prev" in
${[
  ...[...choicePlaces(shapes)].flatMap(([list, places]) =>
    row(places, `COMPREPLY=($(compgen -W ${quoted(list)} -- "$cur")); return`),
  ),
  ...row(
    optionPlaces(shapes, ({ value, choices }) => value === 'files' && choices.length === 0),
    '_perago_files -f; return',
  ),
  ...row(
    optionPlaces(shapes, ({ value, choices }) => value === 'directories' && choices.length === 0),
    '_perago_files -d; return',
  ),
  ...row(
    optionPlaces(shapes, ({ value, choices }) => value === 'other' && choices.length === 0),
    'return',
  ),
].join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $at in
${shapes
  .flatMap(({ path, options }) =>
    row([path], `words=${quoted(options.flatMap(({ names }) => names).join(' '))}`),
  )
  .join('\n')}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case $at in
${shapes.flatMap((shape) => row([shape.path], offered(shape))).join('\n')}
  esac
}
_perago_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
complete -F _perago perago
`
}

function offered({ words, arguments: kind }: CommandShape): string {
  if (words.length > 0)
    return `COMPREPLY=($(compgen -W ${quoted(words.map(({ name }) => name).join(' '))} -- "$cur"))`
  return kind === 'other' ? ':' : `_perago_files ${kind === 'files' ? '-f' : '-d'}`
}
