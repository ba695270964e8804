import { firstSentence, innerPaths, optionPlaces } from './tables.ts'
import type { CommandShape, OptionShape } from './shape.ts'

/** One line for each thing that can stand somewhere. */
export function renderFish(shapes: readonly CommandShape[]): string {
  return `# fish completion for perago; "perago completion fish" prints it.
function __perago_at
    set -l at perago
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch "$at $word"
            case ${innerPaths(shapes).map(quoted).join(' ')}
                set at "$at $word"
            case ${optionPlaces(shapes, () => true)
              .map(quoted)
              .join(' ')}
                set skip yes
        end
    end
    echo $at
end
complete -c perago -f
${shapes.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, words, options, arguments: kind }: CommandShape): readonly string[] {
  const here = `complete -c perago -n ${quoted(`test (__perago_at) = "${path}"`)}`
  return [
    ...words.map(({ name, about }) => `${here} -a ${quoted(name)}${told(about)}`),
    ...options.map((option) => `${here}${namesOf(option)}${valueOf(option)}${told(option.about)}`),
    ...(words.length > 0 || kind === 'other' ? [] : [`${here}${offering(kind)}`]),
  ]
}

function namesOf({ names }: OptionShape): string {
  return names
    .map((name) => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`))
    .join('')
}

function valueOf({ value, choices }: OptionShape): string {
  if (value === undefined) return ''
  if (choices.length > 0) return ` -x -a ${quoted(choices.join(' '))}`
  return value === 'other' ? ' -x' : ` -r${offering(value)}`
}

function offering(kind: 'files' | 'directories'): string {
  return kind === 'files' ? ' -F' : ` -f -a ${quoted('(__fish_complete_directories)')}`
}

function told(about: string): string {
  const text = firstSentence(about)
  return text === '' ? '' : ` -d ${quoted(text)}`
}

/** Unlike other shells, fish knows escapes in single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
