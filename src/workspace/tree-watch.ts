/** What a comparison sees of a directory, for whoever wants to know later whether it is still the same. */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { passFileClock, readFileClock } from './file-clock.ts'
import { readFileFacts, sameFacts, type FileFacts } from './file-facts.ts'
import { clockFileOf, type AttemptWorkspace } from './lay-out.ts'
import { keepingOf, type FileKeeping } from './walk-tree.ts'

export interface WatchedTree {
  readonly facts: ReadonlyMap<string, FileFacts>
  readonly unlike: readonly { readonly path: string; readonly keeping: FileKeeping }[]
  readonly directories: readonly string[]
}

export class TreeWatch {
  readonly #workspace: AttemptWorkspace
  readonly #clockFile: string
  readonly #usual: FileKeeping
  /** The file system's time before the first file was looked at. */
  readonly #beganNs: bigint
  readonly #facts = new Map<string, FileFacts>()
  readonly #young = new Map<string, FileFacts>()
  readonly #unlike: { readonly path: string; readonly keeping: FileKeeping }[] = []
  readonly #directories: string[] = []
  #isSettled = true

  constructor(workspace: AttemptWorkspace) {
    this.#workspace = workspace
    this.#clockFile = clockFileOf(workspace)
    this.#beganNs = readFileClock(this.#clockFile)
    this.#usual = usualKeepingAt(this.#clockFile)
  }

  addFile(path: string, facts: FileFacts, keeping: FileKeeping): void {
    const { manifest } = this.#workspace
    const index = manifest.find(path)
    if (index === -1 || !sameFacts(facts, manifest.facts(index))) this.#facts.set(path, facts)
    if (facts.ctimeNs >= this.#beganNs) this.#young.set(path, facts)
    if (!isUsual(keeping, this.#usual)) this.#unlike.push({ path, keeping })
  }

  addDirectory(path: string): void {
    this.#directories.push(path)
  }

  /**
   * An edit within the step of the clock in which a file was looked at leaves the same times. So where a file is that
   * young, the next step is waited for, some milliseconds at most, and those files are looked at again.
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

/** What a file is like that was just written here. */
export function usualKeepingAt(clockFile: string): FileKeeping {
  return keepingOf(lstatSync(clockFile, { bigint: true }))
}

export function isUsual(keeping: FileKeeping, usual: FileKeeping): boolean {
  return keeping.mode === usual.mode && keeping.links === 1 && keeping.owner === usual.owner
}
