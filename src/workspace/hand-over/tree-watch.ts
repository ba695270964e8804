/** What a comparison sees of a directory, so that it can be compared again later. */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { passFileClock, readFileClock } from '../comparing/file-clock.ts'
import { readFileFacts, sameFacts } from '../comparing/file-facts.ts'
import type { FileFacts, FilePermissions } from '../../tasks/tree-entry.ts'
import { clockFileOf, type AttemptWorkspace } from '../laying-out/lay-out.ts'
import { permissionsOf } from '../comparing/walk-tree.ts'

export interface WatchedTree {
  readonly facts: ReadonlyMap<string, FileFacts>
  readonly unlike: readonly { readonly path: string; readonly permissions: FilePermissions }[]
  readonly directories: readonly string[]
}

export class TreeWatch {
  readonly #workspace: AttemptWorkspace
  readonly #clockFile: string
  readonly #usual: FilePermissions
  /** The file system's time before the first file was read. */
  readonly #beganNs: bigint
  readonly #facts = new Map<string, FileFacts>()
  readonly #young = new Map<string, FileFacts>()
  readonly #unlike: { readonly path: string; readonly permissions: FilePermissions }[] = []
  readonly #directories: string[] = []
  #isSettled = true

  constructor(workspace: AttemptWorkspace) {
    this.#workspace = workspace
    this.#clockFile = clockFileOf(workspace)
    this.#beganNs = readFileClock(this.#clockFile)
    this.#usual = usualPermissionsAt(this.#clockFile)
  }

  addFile(path: string, facts: FileFacts, permissions: FilePermissions): void {
    const { manifest } = this.#workspace
    const index = manifest.find(path)
    if (index === -1 || !sameFacts(facts, manifest.facts(index))) this.#facts.set(path, facts)
    if (facts.ctimeNs >= this.#beganNs) this.#young.set(path, facts)
    if (!isUsual(permissions, this.#usual)) this.#unlike.push({ path, permissions })
  }

  addDirectory(path: string): void {
    this.#directories.push(path)
  }

  /**
   * An edit within the same step of the clock in which a file was read leaves the same times. So if there are such new files,
   * the next step is waited for, some milliseconds at most, and they are read again.
   */
  async settle(): Promise<void> {
    const young = [...this.#young]
    if (young.length === 0) return
    const newestNs = young.reduce((newest, [, { ctimeNs }]) => (ctimeNs > newest ? ctimeNs : newest), 0n)
    const nowNs = await passFileClock(this.#clockFile, newestNs, systemClock)
    this.#isSettled =
      nowNs > newestNs &&
      young.every(([path, facts]) => {
        const now = readFileFacts(join(this.#workspace.dir, path))
        return now !== undefined && sameFacts(now, facts)
      })
  }

  seen(): WatchedTree | undefined {
    if (!this.#isSettled) return undefined
    return { facts: this.#facts, unlike: this.#unlike, directories: this.#directories }
  }
}

/** The permissions of a file that was just written here. */
export function usualPermissionsAt(clockFile: string): FilePermissions {
  return permissionsOf(lstatSync(clockFile, { bigint: true }))
}

export function isUsual(permissions: FilePermissions, usual: FilePermissions): boolean {
  return permissions.mode === usual.mode && permissions.links === 1 && permissions.owner === usual.owner
}
