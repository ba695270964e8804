/** Who may write which variable. Every node may read all variables of its execution. */

import { RefusedError } from '../../base/errors.ts'
import type { VariableName } from '../namespaces/names.ts'

/** The engine that drives the execution, or one of its nodes. */
export type VariableWriter = 'engine' | { readonly node: string }

/**
 * | namespace | engine | node `a` |
 * |---|---|---|
 * | `pipeline.input` | when it starts the execution, never again | no |
 * | `system` | the same | no |
 * | `pipeline.output` | yes | no |
 * | `a` | yes | yes |
 * | another node's | yes | no |
 * | `shared` | yes | yes |
 *
 * Throws `core/not-writable`.
 */
export function requireWriter(name: VariableName, writer: VariableWriter): void {
  if (name.namespace === 'shared') return
  if (name.namespace === 'pipeline.input' || name.namespace === 'system') {
    throw notWritable(
      name,
      'it cannot be changed after the execution has started',
      'Write under the id of a node.',
    )
  }
  if (writer === 'engine' || name.namespace === writer.node) return
  throw notWritable(
    name,
    `node "${writer.node}" may write only under its own id`,
    `Write "${writer.node}.NAME".`,
  )
}

function notWritable({ full }: VariableName, why: string, next: string): RefusedError {
  return new RefusedError('core/not-writable', `write variable "${full}": ${why}`, { next })
}
