/** What differs between a module and the server, for people. */

import { oneLine, shortened } from '../base/one-line.ts'
import type { DefinitionState } from '../runtime/modules/module-registration.ts'

const WORDS = { same: 'as registered', missing: 'not registered', differs: 'differs' } as const
const VALUE_MAX_CHARS = 120

/** One line: what it is and how the server differs. */
export function describeState({ kind, name, version, state, changes }: DefinitionState): string {
  const which = `${kind} "${name}"${version === undefined ? '' : ` version ${version}`}`
  if (state !== 'differs') return `${which}: ${state === 'same' ? 'the same' : WORDS[state]}`
  const fields = changes.map(
    ({ field, registered, declared }) => `${field} is ${show(registered)} there and ${show(declared)} here`,
  )
  return `${which}: ${fields.join('; ')}`
}

/** The state of one definition; empty when nothing was compared. */
export function stateOf(
  states: readonly DefinitionState[],
  kind: DefinitionState['kind'],
  name: string,
): string {
  const found = states.find((state) => state.kind === kind && state.name === name)
  return found === undefined ? '' : WORDS[found.state]
}

/** Like a patch: what is removed, and what is added. */
export function renderChanges(states: readonly DefinitionState[]): string {
  return states
    .map(({ kind, name, version, state, changes }) => {
      const which = `${kind} ${name}${version === undefined ? '' : ` version ${version}`}`
      const head = { same: `  ${which}: as registered`, missing: `+ ${which}: new`, differs: `~ ${which}` }[
        state
      ]
      const lines = changes.flatMap(({ field, registered, declared }) => [
        `    - ${field}: ${show(registered)}`,
        `    + ${field}: ${show(declared)}`,
      ])
      return `${[head, ...lines].join('\n')}\n`
    })
    .join('')
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : shortened(oneLine(JSON.stringify(value)), VALUE_MAX_CHARS)
}
