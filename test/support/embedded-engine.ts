/** The embedded lakeFS' storage engine with short calls for tests, on one repository named `lake`. */

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import {
  openEngine,
  type LakefsEngine,
  type OpenEngineOptions,
} from '../../src/embedded/lakefs/engine/open-engine.ts'
import type { Commit, Entry, MergeInput, PageRequest } from '../../src/embedded/lakefs/engine/engine.ts'

export const LAKE = 'lake'

export interface TestLake {
  readonly engine: LakefsEngine
  put(branch: string, path: string, content?: string, more?: Partial<Entry>): Promise<Entry>
  putIfAbsent(branch: string, path: string, content?: string): Promise<Entry>
  remove(branch: string, path: string): Promise<void>
  branch(name: string, source?: string): Promise<void>
  commit(
    branch: string,
    message: string,
    more?: { allowEmpty?: boolean; sourceMetaRange?: string },
  ): Promise<Commit>
  merge(source: string, destination: string, more?: Partial<MergeInput>): Promise<Commit>
  head(branch: string): string
  paths(ref: string, page?: Partial<PageRequest> & { delimiter?: string }): string[]
  read(ref: string, path: string): Promise<string>
  uncommitted(branch: string): string[]
  messages(ref: string): string[]
}

/** A temporary directory that is gone after the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'perago-engine-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Starts at a fixed moment and moves a second with each look, so that no two commits are made at one time. */
export function tickingClock(): Clock {
  let seconds = 1_700_000_000
  return {
    now: () => new Date((seconds += 1) * 1000),
    monotonicMs: () => seconds * 1000,
    sleep: () => Promise.reject(new Error('nothing here sleeps')),
  }
}

/** In memory unless a directory is named; closed after the test. */
export async function openLake(options: OpenEngineOptions = {}): Promise<TestLake> {
  const lake = await reopenLake(options)
  await lake.engine.createRepository({ name: LAKE, storageNamespace: 'local://lake', defaultBranch: 'main' })
  return lake
}

/** As `openLake`, on a directory that has the repository already. */
export async function reopenLake(options: OpenEngineOptions): Promise<TestLake> {
  const engine = await openEngine({ clock: tickingClock(), ...options })
  onTestFinished(() => engine.close())
  return lakeOn(engine)
}

export function lakeOn(engine: LakefsEngine): TestLake {
  const put = async (
    branch: string,
    path: string,
    content = path,
    more: Partial<Entry> = {},
    ifAbsent = false,
  ) => {
    const blob = await engine.storeBlob(LAKE, Readable.from([Buffer.from(content)]))
    const entry: Entry = {
      path,
      physicalAddress: blob.physicalAddress,
      checksum: blob.md5,
      sizeBytes: blob.sizeBytes,
      modifiedAt: 1_700_000_000,
      contentType: 'application/octet-stream',
      metadata: {},
      ...more,
    }
    return engine.putEntry({ repository: LAKE, branch, entry, ifAbsent })
  }
  return {
    engine,
    put: (branch, path, content, more) => put(branch, path, content, more),
    putIfAbsent: (branch, path, content) => put(branch, path, content, {}, true),
    remove: (branch, path) => engine.deleteEntry(LAKE, branch, path),
    branch: async (name, source = 'main') => {
      await engine.createBranch({ repository: LAKE, name, source, hidden: false })
    },
    commit: (branch, message, more = {}) =>
      engine.commit({
        repository: LAKE,
        branch,
        committer: 'tester',
        message,
        metadata: {},
        allowEmpty: false,
        ...more,
      }),
    merge: (source, destination, more = {}) =>
      engine.merge({
        repository: LAKE,
        source,
        destination,
        committer: 'tester',
        metadata: {},
        squash: false,
        allowEmpty: false,
        ...more,
      }),
    head: (branch) => engine.getBranch(LAKE, branch).commitId,
    paths: (ref, page = {}) =>
      engine.list(LAKE, ref, { amount: 1000, ...page }).items.map((item) => item.path),
    read: async (ref, path) =>
      (await engine.readBlob(LAKE, engine.stat(LAKE, ref, path).physicalAddress, 1_000_000)).toString(),
    uncommitted: (branch) =>
      engine
        .diffUncommitted({ repository: LAKE, branch, amount: 1000 })
        .items.map((item) => `${item.kind === 'object' ? item.type : 'prefix'} ${item.path}`),
    messages: (ref) =>
      engine
        .log(LAKE, ref, { amount: 1000, firstParent: false, objects: [], prefixes: [] })
        .items.map((commit) => commit.message),
  }
}

export function md5(content: string): string {
  return createHash('md5').update(content).digest('hex')
}
