/** Names of nodes, inputs, outputs and variables. */

import { InvalidError } from '../../base/errors.ts'
import { NAME_MAX_CHARS, VARIABLE_NAME_MAX_CHARS } from '../limits.ts'

/** Reserved as first segments of names that belong to no node. */
export const RESERVED_NODE_IDS = ['pipeline', 'system', 'external', 'shared'] as const

const NAME = /^[A-Za-z0-9_-]+$/
const PATH = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** Checks the id of a node: one word of letters, digits, `_` and `-`, and none of the reserved ones. */
export function checkNodeId(id: unknown): string {
  const name = checkName(id, 'node id')
  if (!(RESERVED_NODE_IDS as readonly string[]).includes(name)) return name
  throw new InvalidError('core/reserved-name', `read ${show(id)} as a node id: it is reserved`, {
    details: { reserved: RESERVED_NODE_IDS },
    next: 'Give the node another id.',
  })
}

/** Checks the name of an input or output: one word. */
export function checkName(text: unknown, what: string): string {
  if (typeof text === 'string' && NAME.test(text) && text.length <= NAME_MAX_CHARS) return text
  throw new InvalidError(
    'core/bad-name',
    `read ${show(text)} as a ${what}: it must have 1 to ${NAME_MAX_CHARS} letters, digits, "_" and "-"`,
    { next: 'Correct the name.' },
  )
}

/** Checks the name of a pipeline: words as above, joined by dots, such as `orders.daily`. */
export function checkPipelineName(text: unknown): string {
  if (typeof text === 'string' && PATH.test(text) && text.length <= NAME_MAX_CHARS) return text
  throw new InvalidError(
    'core/bad-name',
    `read ${show(text)} as the name of a pipeline: it must have 1 to ${NAME_MAX_CHARS} letters, digits, "_" and "-", in parts joined by dots`,
    { next: 'Correct the name.' },
  )
}

/** Where a variable belongs: `pipeline.input`, `pipeline.output`, `system`, `shared`, or the id of a node. */
export interface VariableName {
  readonly full: string
  readonly namespace: string
  readonly name: string
}

/** Parses a variable's name. Throws `core/bad-variable-name` when it has no namespace, or one that does not exist. */
export function parseVariableName(text: unknown): VariableName {
  if (typeof text !== 'string' || !PATH.test(text) || text.length > VARIABLE_NAME_MAX_CHARS) {
    throw badVariable(
      text,
      'it must be a namespace and a name, joined by a dot, of letters, digits, "_" and "-"',
    )
  }
  const end = text.indexOf('.')
  if (end < 0) throw badVariable(text, 'it has no namespace')
  const namespace = text.slice(0, end)
  if (namespace === 'pipeline') {
    const [, second, ...rest] = text.split('.')
    if ((second !== 'input' && second !== 'output') || rest.length === 0) {
      throw badVariable(text, 'below "pipeline." there are "pipeline.input.NAME" and "pipeline.output.NAME"')
    }
    return { full: text, namespace: `pipeline.${second}`, name: rest.join('.') }
  }
  if (namespace === 'external') throw badVariable(text, '"external." begins events, not variables')
  return { full: text, namespace, name: text.slice(end + 1) }
}

function badVariable(text: unknown, why: string): InvalidError {
  return new InvalidError('core/bad-variable-name', `read ${show(text)} as a variable name: ${why}`, {
    next: 'Name it as NODE.NAME, pipeline.input.NAME, pipeline.output.NAME, system.NAME or shared.NAME.',
  })
}

/** A value for a message: quoted and shortened. */
export function show(text: unknown): string {
  const shown = typeof text === 'string' ? JSON.stringify(text) : `a value of type ${typeof text}`
  return shown.length > 80 ? `${shown.slice(0, 80)}…` : shown
}
