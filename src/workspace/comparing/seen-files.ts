/** The files that a comparison saw, so that a second walk notices what changed after it. */

import type { FileFacts } from '../../tasks/tree-entry.ts'
import type { WorkspaceView } from '../../tasks/workspace-spec.ts'
import { RefusedError } from '../../base/errors.ts'
import type { Manifest } from '../manifest.ts'
import { describeRefusals, RefusalList } from '../refusals.ts'
import { sameFacts } from './file-facts.ts'
import { walkTree } from './walk-tree.ts'

export class SeenFiles {
  readonly #manifest: Manifest
  readonly #view: WorkspaceView
  /** Of files that are as they were laid out, only this is kept. */
  readonly #isAsLaidOut: Uint8Array
  readonly #others = new Map<string, FileFacts>()

  constructor(manifest: Manifest, view: WorkspaceView) {
    this.#manifest = manifest
    this.#view = view
    this.#isAsLaidOut = new Uint8Array(manifest.count)
  }

  add(path: string, facts: FileFacts, index: number): void {
    if (index === -1 && !this.#view.covers(path)) return
    if (index !== -1 && sameFacts(facts, this.#manifest.facts(index))) this.#isAsLaidOut[index] = 1
    else this.#others.set(path, facts)
  }

  /**
   * Walks through the directory again, without reading a file. Throws `workspace/still-changing` with the paths of what was
   * edited, added or removed. What is not published does not count.
   */
  async assertUnchanged(directory: string, signal: AbortSignal | undefined): Promise<void> {
    const changed = new RefusalList()
    const missing = { asLaidOut: this.#isAsLaidOut.slice(), others: new Set(this.#others.keys()) }
    await walkTree(directory, { signal }, (entry) => {
      const { path } = entry
      const index = this.#manifest.find(path)
      const known = this.#others.get(path) ?? this.#laidOut(index)
      if (known === undefined) {
        if (index !== -1 || this.#view.covers(path)) changed.add(path, 'is new')
        return
      }
      if (!missing.others.delete(path)) missing.asLaidOut[index] = 0
      if (entry.kind === 'other' || !sameFacts(entry.facts, known)) changed.add(path, 'was edited')
    })
    missing.asLaidOut.forEach((isMissing, index) => {
      if (isMissing === 1) changed.add(this.#manifest.path(index), 'was removed')
    })
    for (const path of missing.others) changed.add(path, 'was removed')
    if (changed.count > 0) throw changedAfterwards(changed)
  }

  #laidOut(index: number): FileFacts | undefined {
    return index !== -1 && this.#isAsLaidOut[index] === 1 ? this.#manifest.facts(index) : undefined
  }
}

function changedAfterwards(changed: RefusalList): RefusedError {
  return new RefusedError(
    'workspace/still-changing',
    `publish the workspace: ${changed.count} files changed after it was compared with its input: ${describeRefusals(changed)}`,
    {
      details: { count: changed.count, files: changed.named },
      next: 'Let the body end every program it started before it returns.',
    },
  )
}
