/** Decides which objects become files, or what forbids that. Pure. */

import { DefectError } from '../../base/errors.ts'
import { ACTIONS_FOLDER } from '../../base/reserved-paths.ts'
import { foldPath } from './file-system-traits.ts'
import { ManifestRecord } from '../manifest.ts'
import type { SourceObject } from '../ports.ts'
import { RefusalList, type Refusals } from '../refusals.ts'
import { unsafeReason, type FileSystemTraits } from '../../tasks/unsafe-path.ts'
import type { WorkspaceView } from '../../tasks/workspace-spec.ts'

export interface LayOutPlan {
  readonly manifest: ManifestRecord
  /** Every directory that files need, parents first. */
  readonly directories: readonly string[]
}

export type LayOutDecision =
  | { readonly action: 'lay-out'; readonly plan: LayOutPlan }
  | { readonly action: 'refuse'; readonly refusals: Refusals }
  | { readonly action: 'too-large'; readonly what: 'files' | 'bytes'; readonly limit: number }

export interface LayOutPlannerOptions {
  readonly view: WorkspaceView
  readonly traits: FileSystemTraits
  readonly maxFiles: number
  readonly maxBytes: number
}

/**
 * Takes the objects below the view's prefix one by one, in the order of the listing, so that a long listing is never in
 * memory as objects.
 */
export class LayOutPlanner {
  readonly #view: WorkspaceView
  readonly #traits: FileSystemTraits
  readonly #maxFiles: number
  readonly #maxBytes: number
  readonly #manifest: ManifestRecord
  readonly #refusals = new RefusalList()
  readonly #directories = new Set<string>()
  #tooLarge: Extract<LayOutDecision, { action: 'too-large' }> | undefined

  constructor({ view, traits, maxFiles, maxBytes }: LayOutPlannerOptions) {
    this.#view = view
    this.#traits = traits
    this.#maxFiles = maxFiles
    this.#maxBytes = maxBytes
    this.#manifest = new ManifestRecord(view.prefix)
  }

  /** Adds the next object; `false` if no further one can change the decision. */
  add(object: SourceObject): boolean {
    if (!object.key.startsWith(this.#view.prefix)) {
      throw brokenListing(object.key, `it is not below ${JSON.stringify(this.#view.prefix)}`)
    }
    const path = object.key.slice(this.#view.prefix.length)
    if (!this.#view.covers(path) || object.key.startsWith(ACTIONS_FOLDER)) {
      if (!this.#manifest.outside.append(path)) throw unordered(object.key)
      return true
    }
    const reason = unsafeReason(path, this.#traits)
    if (reason !== undefined) {
      this.#refusals.add(object.key, reason)
      return true
    }
    if (!this.#manifest.append(path, object)) throw unordered(object.key)
    this.#addDirectoriesOf(path)
    return this.#isWithinLimits()
  }

  decide(): LayOutDecision {
    if (this.#tooLarge !== undefined) return this.#tooLarge
    this.#refusePairs()
    if (this.#foldsNames) this.#refuseClashes()
    if (this.#refusals.count > 0) return { action: 'refuse', refusals: this.#refusals }
    this.#manifest.seal()
    return { action: 'lay-out', plan: { manifest: this.#manifest, directories: [...this.#directories] } }
  }

  get #foldsNames(): boolean {
    return this.#traits.foldsCase || this.#traits.foldsUnicode
  }

  #isWithinLimits(): boolean {
    if (this.#manifest.count > this.#maxFiles) {
      this.#tooLarge = { action: 'too-large', what: 'files', limit: this.#maxFiles }
    } else if (this.#manifest.totalBytes > this.#maxBytes) {
      this.#tooLarge = { action: 'too-large', what: 'bytes', limit: this.#maxBytes }
    }
    return this.#tooLarge === undefined
  }

  #addDirectoriesOf(path: string): void {
    const parents: string[] = []
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const parent = path.slice(0, slash)
      if (this.#directories.has(parent)) break
      parents.push(parent)
    }
    for (const parent of parents.reverse()) this.#directories.add(parent)
  }

  /** The keys `p` and `p/q` cannot both be files: one name would be a file and a directory. */
  #refusePairs(): void {
    for (const directory of this.#directories) {
      if (this.#manifest.find(directory) === -1) continue
      const below = this.#manifest.firstBelow(`${directory}/`) ?? `${directory}/`
      this.#refusals.add(
        this.#view.prefix + directory,
        `would be a file and a directory at once, because there is ${JSON.stringify(this.#view.prefix + below)}`,
      )
    }
  }

  /** Where `A` and `a` are one name, one file would overwrite the other. */
  #refuseClashes(): void {
    const seen = new Map<string, string>()
    const look = (path: string): void => {
      const fold = foldPath(path, this.#traits)
      const other = seen.get(fold)
      if (other === undefined) seen.set(fold, path)
      else if (other !== path) {
        this.#refusals.add(
          this.#view.prefix + path,
          `is the same name as ${JSON.stringify(this.#view.prefix + other)} on this file system`,
        )
      }
    }
    for (const directory of this.#directories) look(directory)
    for (let index = 0; index < this.#manifest.count; index++) look(this.#manifest.path(index))
  }
}

function unordered(key: string): DefectError {
  return brokenListing(key, 'it does not come after the one before in byte order')
}

function brokenListing(key: string, reason: string): DefectError {
  return new DefectError(
    'workspace/broken-listing',
    `read the listing of the input: ${JSON.stringify(key)} is out of place, ${reason}`,
    { details: { key } },
  )
}
