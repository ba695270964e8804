/** A workspace as a body meets it. */

import { join, resolve, sep } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import type { BodyWorkspace } from '../../tasks/task-definition.ts'
import type { WorkspaceFacts } from './protocol.ts'

/** What a body sees of its workspace. */
export function openBodyWorkspace(facts: WorkspaceFacts): BodyWorkspace {
  const root = resolve(facts.dir)
  return {
    ...facts,
    path(...segments) {
      const path = resolve(join(root, ...segments))
      if (path === root || path.startsWith(root + sep)) return path
      throw new InvalidError(
        'worker/outside-workspace',
        `name ${JSON.stringify(segments.join('/'))} in the workspace: it leads outside`,
      )
    },
  }
}
