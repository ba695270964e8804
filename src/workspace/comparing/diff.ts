/**
 * What an attempt changed: compares its directory with the manifest of its input, not with the branch, which others may
 * have changed.
 */

import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import { WORKSPACE_HASHES_IN_FLIGHT, WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { contentTypeOf } from './content-type.ts'
import { asDiskError } from '../disk-errors.ts'
import { suspect } from './file-facts.ts'
import type { FileFacts } from '../../tasks/tree-entry.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import type { AttemptWorkspace } from '../laying-out/lay-out.ts'
import type { Manifest } from '../manifest.ts'
import { hashUnchanged, openUnchanged, readUnchanged, type KnownFile } from './read-unchanged.ts'
import { describeRefusals, RefusalList, type Refusals } from '../refusals.ts'
import { scanTree } from './scan.ts'
import { SeenFiles } from './seen-files.ts'
import { TreeWatch, type WatchedTree } from '../hand-over/tree-watch.ts'
import type { WorkspaceView } from '../../tasks/workspace-spec.ts'

/** A file whose content is to be published. */
export interface UploadFile {
  /** The full key in the repository. */
  readonly key: string
  /** Absolute. */
  readonly localPath: string
  readonly sizeBytes: number
  /** That of the object it replaces; for a new one, by the extension of its name. */
  readonly contentType: string
  /** That of the object it replaces; empty for a new one. */
  readonly metadata: Readonly<Record<string, string>>
  readonly isNew: boolean
  /** In hexadecimal, if the comparison had to read the file. */
  readonly md5?: string
  /** The content, of a small file at once; fails with `workspace/still-changing` if the file changed after the comparison. */
  open(): Readable | Uint8Array
}

export interface ChangeSet {
  /** Sorted by key. */
  readonly uploads: readonly UploadFile[]
  /** Full keys, sorted by their bytes. */
  readonly deletes: readonly string[]
  readonly unchangedCount: number
  readonly uploadBytes: number
  /** How many files had to be read. */
  readonly hashedCount: number
  /** Files outside the include and exclude globs, which are not published. Worth a warning. */
  readonly leftOut: Refusals
  /** Throws `workspace/still-changing` if what is published changed after the comparison, as far as times show it. */
  readonly assertUnchanged: (signal?: AbortSignal) => Promise<void>
  /** For `handOver`, if it was asked for and nothing changed during the comparison. */
  readonly seen: WatchedTree | undefined
}

/**
 * Compares size, times and inode; hashes the content only if these are not conclusive, or not to be trusted here.
 *
 * ```ts
 * const { uploads, deletes } = await diffWorkspace(workspace, { signal })
 * ```
 */
export async function diffWorkspace(
  workspace: AttemptWorkspace,
  options: { readonly signal?: AbortSignal; readonly forHandOver?: boolean } = {},
): Promise<ChangeSet> {
  workspace.assertOwned()
  const comparison = new Comparison(workspace)
  const watch = options.forHandOver === true ? new TreeWatch(workspace) : undefined
  try {
    await scanTree(
      workspace.dir,
      {
        prefix: workspace.manifest.prefix,
        signal: options.signal,
        onDirectory: watch && ((path) => watch.addDirectory(path)),
      },
      (path, facts, permissions) => {
        comparison.add(path, facts)
        watch?.addFile(path, facts, permissions)
      },
    )
    // Before anything is read: from here on every edit changes the times.
    await watch?.settle()
    await comparison.lookInside(options.signal)
  } catch (error) {
    // If the directory was removed meanwhile, that is the cause of any other error.
    workspace.assertOwned()
    if (isPeragoError(error)) throw error
    throw asDiskError('compare the workspace with its input', error) ?? error
  }
  // Last, because a directory that was removed half-way looks like one with many deleted files.
  workspace.assertOwned()
  return { ...comparison.finish(), seen: watch?.seen() }
}

interface Doubt {
  readonly index: number
  readonly file: KnownFile
}

class Comparison {
  readonly #directory: string
  readonly #manifest: Manifest
  readonly #view: WorkspaceView
  readonly #areTimesTrusted: boolean
  readonly #isThere: Uint8Array
  readonly #seen: SeenFiles
  readonly #uploads: UploadFile[] = []
  readonly #doubts: Doubt[] = []
  readonly #leftOut = new RefusalList()
  readonly #clashes = new RefusalList()
  #unchangedCount = 0

  constructor({ dir, manifest, view, times }: AttemptWorkspace) {
    this.#directory = dir
    this.#manifest = manifest
    this.#view = view
    this.#areTimesTrusted = times.areTrusted
    this.#isThere = new Uint8Array(manifest.count)
    this.#seen = new SeenFiles(manifest, view)
  }

  add(path: string, facts: FileFacts): void {
    const file = { path, localPath: join(this.#directory, path), facts }
    const index = this.#manifest.find(path)
    this.#seen.add(path, facts, index)
    if (index === -1) {
      this.#addNew(file)
      return
    }
    this.#isThere[index] = 1
    const laidOut = this.#manifest.facts(index)
    switch (suspect({ laidOut, found: facts, layOutEndNs: this.#manifest.layOutEndNs })) {
      case 'same':
        if (this.#areTimesTrusted) this.#unchangedCount++
        else this.#doubts.push({ index, file })
        break
      case 'changed':
        this.#addChanged(index, file)
        break
      case 'look-inside':
        this.#doubts.push({ index, file })
        break
    }
  }

  async lookInside(signal: AbortSignal | undefined): Promise<void> {
    const options = { limit: WORKSPACE_HASHES_IN_FLIGHT, signal }
    await forEachBounded(this.#doubts, options, async ({ index, file }, stop) => {
      const md5 = await hashUnchanged(file, stop)
      if (md5 === this.#manifest.laidOutMd5(index)) this.#unchangedCount++
      else this.#addChanged(index, file, md5)
    })
  }

  finish(): Omit<ChangeSet, 'seen'> {
    if (this.#clashes.count > 0) throw clashesOutside(this.#clashes)
    const uploads = this.#uploads.sort((a, b) => (a.key < b.key ? -1 : 1))
    return {
      uploads,
      deletes: this.#findDeleted(),
      unchangedCount: this.#unchangedCount,
      uploadBytes: uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      hashedCount: this.#doubts.length,
      leftOut: this.#leftOut,
      assertUnchanged: (signal) => this.#seen.assertUnchanged(this.#directory, signal),
    }
  }

  #addNew(file: KnownFile): void {
    if (!this.#view.covers(file.path)) {
      this.#leftOut.add(file.path, 'is outside the include and exclude globs')
      return
    }
    const clash = this.#findClash(file.path)
    if (clash !== undefined) this.#clashes.add(this.#manifest.prefix + file.path, clash)
    this.#uploads.push(uploadOf(file, this.#manifest.prefix + file.path))
  }

  #addChanged(index: number, file: KnownFile, md5?: string): void {
    const { key, contentType, metadata } = this.#manifest.entry(index)
    const known = md5 === undefined ? {} : { md5 }
    this.#uploads.push({ ...uploadOf(file, key), contentType, metadata, isNew: false, ...known })
  }

  /**
   * Objects outside the view are not in the directory, so a new file can have the name of one of their directories. Such a
   * pair of keys could not be laid out again.
   */
  #findClash(path: string): string | undefined {
    const { outside, prefix } = this.#manifest
    const below = outside.firstBelow(`${path}/`)
    if (below !== undefined)
      return `would be a file beside ${JSON.stringify(prefix + below)}, which the globs leave out`
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const parent = path.slice(0, slash)
      if (outside.find(parent) !== -1) {
        return `would be below ${JSON.stringify(prefix + parent)}, which is a file that the globs leave out`
      }
    }
    return undefined
  }

  #findDeleted(): readonly string[] {
    const deletes: string[] = []
    this.#isThere.forEach((isThere, index) => {
      if (isThere === 0) deletes.push(this.#manifest.prefix + this.#manifest.path(index))
    })
    return deletes
  }
}

function uploadOf(file: KnownFile, key: string): UploadFile {
  return {
    key,
    localPath: file.localPath,
    sizeBytes: file.facts.sizeBytes,
    contentType: contentTypeOf(file.path),
    metadata: {},
    isNew: true,
    open: () =>
      file.facts.sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES ? readUnchanged(file) : openUnchanged(file),
  }
}

function clashesOutside(clashes: Refusals): InvalidError {
  return new InvalidError(
    'workspace/unpublishable',
    `compare the workspace with its input: ${clashes.count} new files clash with objects that are not laid out: ${describeRefusals(clashes)}`,
    {
      details: { count: clashes.count, files: clashes.named },
      next: 'Write these files under other names, or widen the globs of the task.',
    },
  )
}
