/** What a case is given, and the few steps most of them take. */

import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { isPeragoError } from '../../../src/base/errors.ts'
import { branchName, type BranchName, type CommitRef, type RepositoryName } from '../../../src/base/ids.ts'
import type {
  CommitRecord,
  Metadata,
  OpenedObject,
  UploadBody,
  VersionedRepo,
  WriteRequest,
} from '../../../src/publication/ports.ts'

export interface OpenRepo {
  readonly repo: VersionedRepo
  /** A handle on another repository, which may not exist. */
  readonly openOther: (repository: RepositoryName) => VersionedRepo
  /** Lets these branches take merges only; resolves when the rule is in force. */
  readonly protect: (pattern: string) => Promise<void>
  /** One request to the server itself, its path behind that of the repository: for what only lakeFS has. */
  readonly ask?: (method: string, path: string, json?: object) => Promise<ServerAnswer>
  readonly close: () => Promise<void>
}

export interface ServerAnswer {
  readonly status: number
  readonly body: unknown
}

export type Case = (world: OpenRepo) => Promise<void>

export const MAIN = branchName('main')
export const NO_SUCH_COMMIT = '0'.repeat(64) as CommitRef

export function bytes(content: string | Uint8Array): UploadBody {
  const whole = Buffer.from(content)
  return { sizeBytes: whole.byteLength, open: () => whole }
}

export async function put(
  repo: VersionedRepo,
  branch: BranchName,
  path: string,
  content: string | Uint8Array = path,
  more: Partial<WriteRequest> = {},
): Promise<void> {
  const outcome = await repo.write({ branch, path, body: bytes(content), ...more })
  expect(outcome.written).toBe(true)
}

/** Writes these paths, then commits. */
export async function commitOf(
  repo: VersionedRepo,
  branch: BranchName,
  files: Readonly<Record<string, string>>,
  more: { readonly message?: string; readonly metadata?: Metadata } = {},
): Promise<CommitRecord> {
  for (const [path, content] of Object.entries(files)) await put(repo, branch, path, content)
  const message = more.message ?? Object.keys(files).join(' ')
  const outcome = await repo.commit({ branch, message, metadata: more.metadata ?? {} })
  if (!outcome.committed) throw new Error(`commit ${message}: ${outcome.reason}`)
  return outcome.commit
}

export async function headOf(repo: VersionedRepo, branch: BranchName): Promise<CommitRef> {
  const found = await repo.readBranch(branch)
  if (found === undefined) throw new Error(`no branch ${branch}`)
  return found.head
}

export async function branchFrom(repo: VersionedRepo, name: string, from: CommitRef): Promise<BranchName> {
  const branch = branchName(name)
  expect(await repo.createBranch({ branch, from })).toEqual({ created: true })
  return branch
}

export async function textOf(opened: OpenedObject | undefined): Promise<string> {
  if (opened === undefined) throw new Error('there is no such object')
  return (await buffer(opened.body)).toString('utf8')
}

export async function readText(
  repo: VersionedRepo,
  at: CommitRef | BranchName,
  path: string,
): Promise<string> {
  return textOf(await repo.read(at, path))
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

export async function pathsAt(repo: VersionedRepo, at: CommitRef | BranchName): Promise<string[]> {
  return (await all(repo.list(at))).map((entry) => entry.path)
}

/** The kind and code an operation fails with; fails itself when it does not. */
export async function failureOf(operation: Promise<unknown>): Promise<{ kind: string; code: string }> {
  try {
    await operation
  } catch (error) {
    if (isPeragoError(error)) return { kind: error.kind, code: error.code }
    throw error
  }
  throw new Error('it was expected to fail')
}

export async function kindOf(operation: Promise<unknown>): Promise<string> {
  return (await failureOf(operation)).kind
}

/** Asks the server itself; fails where there is none, or unless it answers with this status. */
export async function askFor(
  { ask }: OpenRepo,
  status: number,
  ...request: Parameters<NonNullable<OpenRepo['ask']>>
): Promise<unknown> {
  if (ask === undefined) throw new Error('there is no server to ask')
  const answer = await ask(...request)
  expect(answer).toMatchObject({ status })
  return answer.body
}

/** The first page of a comparison, as the server gives it. */
export async function askForChanges(world: OpenRepo, path: string): Promise<string[]> {
  const { results } = (await askFor(world, 200, 'GET', path)) as { results: { type: string; path: string }[] }
  return results.map(({ type, path: changed }) => `${type} ${changed}`)
}

/** The order of UTF-8 bytes, which is not that of JavaScript's strings. */
export function byteOrder(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** Runs these side by side, at most `places` at a time. */
export async function sideBySide(
  count: number,
  places: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await run(index)
  }
  await Promise.all(Array.from({ length: places }, lane))
}
