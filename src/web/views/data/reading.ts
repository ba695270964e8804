/** What the views of data ask the server for. */

import { get, readBytes, type Schemas } from '../../api.ts'
import { stagedOf, supersededOf } from './asides.ts'
import type { Aside } from './history-rows.ts'

export type Commit = Schemas['RepositoryCommit']
export type NamedRef = Schemas['NamedRef']
export type Entry = Schemas['RepositoryEntry']

const LISTED_PAGES_MAX = 20
const LISTED_PER_PAGE = 1_000
/** How many tags, and how many staging branches, are looked at beside a branch. */
const ASIDES_MAX = 60
/** How many commits of each: a rolled-back branch leaves several under one tag. */
const ASIDE_COMMITS = 12
const ASIDES_AT_ONCE = 4
const PART_BYTES = 1_048_576

export interface Listed<T> {
  readonly items: readonly T[]
  readonly isCut: boolean
}

/** All of a list, as long as it is not endless. */
async function listAll<T>(
  page: (
    after: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly next?: string | undefined }>,
): Promise<Listed<T>> {
  const items: T[] = []
  let after: string | undefined
  for (let turn = 0; turn < LISTED_PAGES_MAX; turn += 1) {
    const { items: found, next } = await page(after)
    items.push(...found)
    if (next === undefined) return { items, isCut: false }
    after = next
  }
  return { items, isCut: true }
}

export async function readDefaultBranch(name: string, signal: AbortSignal): Promise<string | undefined> {
  const { repositories } = await get('/repositories', { query: { prefix: name, limit: 1 }, signal })
  return repositories.find((repository) => repository.name === name)?.default_branch
}

export function listBranches(repository: string, signal: AbortSignal): Promise<Listed<NamedRef>> {
  return listAll(async (after) => {
    const query = { limit: LISTED_PER_PAGE, ...(after !== undefined && { after }) }
    const found = await get('/repositories/{repository}/branches', { path: { repository }, query, signal })
    return { items: found.branches, next: found.next_after }
  })
}

export function listTags(repository: string, signal: AbortSignal, prefix = ''): Promise<Listed<NamedRef>> {
  return listAll(async (after) => {
    const query = { limit: LISTED_PER_PAGE, prefix, ...(after !== undefined && { after }) }
    const found = await get('/repositories/{repository}/tags', { path: { repository }, query, signal })
    return { items: found.tags, next: found.next_after }
  })
}

export interface CommitsQuery {
  readonly from: string
  readonly limit: number
  readonly after?: string | undefined
  readonly firstParent?: boolean
}

export async function readCommits(
  repository: string,
  { from, limit, after, firstParent = false }: CommitsQuery,
  signal: AbortSignal,
): Promise<{ readonly items: readonly Commit[]; readonly next?: string | undefined }> {
  const query = {
    ...{ from, limit },
    ...(after !== undefined && { after }),
    ...(firstParent && { first_parent: true }),
  }
  const { commits, next_after: next } = await get('/repositories/{repository}/commits', {
    ...{ path: { repository }, query, signal },
  })
  return { items: commits, next }
}

export async function readCommit(
  repository: string,
  from: string,
  signal: AbortSignal,
): Promise<Commit | undefined> {
  return (await readCommits(repository, { from, limit: 1 }, signal)).items[0]
}

export interface Asides {
  readonly asides: readonly Aside<Commit>[]
  /** How many more there are than were looked at. */
  readonly left: number
}

/** What hangs beside a branch: superseded commits, refused and staged publications. */
export async function readAsides(repository: string, branch: string, signal: AbortSignal): Promise<Asides> {
  const [tags, branches] = await Promise.all([
    listTags(repository, signal, 'perago-superseded-'),
    listStaging(repository, signal),
  ])
  const looked = await mapSome(
    [
      ...tags.items.slice(0, ASIDES_MAX).map((ref) => ({ ref, read: supersededOf })),
      ...branches.slice(0, ASIDES_MAX).map((ref) => ({ ref, read: stagedOf })),
    ],
    async ({ ref, read }) => {
      const wanted = { from: ref.name, limit: ASIDE_COMMITS, firstParent: true }
      // One that was removed meanwhile is missed by nobody.
      const found = await readCommits(repository, wanted, signal).catch(() => ({ items: [] }))
      return read({ name: ref.name, branch }, found.items)
    },
  )
  const left = Math.max(0, tags.items.length - ASIDES_MAX) + Math.max(0, branches.length - ASIDES_MAX)
  return { asides: looked.flat(), left }
}

async function listStaging(repository: string, signal: AbortSignal): Promise<readonly NamedRef[]> {
  const found = await Promise.all(
    ['perago-staging-', 'perago-actor-'].map((prefix) =>
      get('/repositories/{repository}/branches', {
        ...{ path: { repository }, query: { prefix, limit: LISTED_PER_PAGE }, signal },
      }),
    ),
  )
  return found.flatMap(({ branches }) => branches)
}

/** In order, a few at a time. */
async function mapSome<T, R>(items: readonly T[], turn: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next
      next += 1
      results[index] = await turn(items[index] as T)
    }
  }
  await Promise.all(Array.from({ length: ASIDES_AT_ONCE }, work))
  return results
}

export interface ObjectPlace {
  readonly repository: string
  readonly at: string
  readonly path: string
}

export interface ObjectBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly sizeBytes: number
}

/** From `start` on, part by part; less where the object ends. */
export async function readRange(
  { repository, at, path }: ObjectPlace,
  { start, length }: { readonly start: number; readonly length: number },
  signal: AbortSignal | undefined,
  onPart?: (doneBytes: number, sizeBytes: number) => void,
): Promise<ObjectBytes> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let done = 0
  let sizeBytes = 0
  while (done < length) {
    const part = { start: start + done, length: Math.min(PART_BYTES, length - done) }
    const read = await readBytes(repository, { at, path, ...part }, signal)
    parts.push(read.bytes)
    done += read.bytes.length
    sizeBytes = read.sizeBytes
    onPart?.(done, sizeBytes)
    if (read.bytes.length < part.length || start + done >= sizeBytes) break
  }
  return { bytes: join(parts, done), sizeBytes }
}

function join(parts: readonly Uint8Array<ArrayBuffer>[], length: number): Uint8Array<ArrayBuffer> {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** What the listing says of one object; `undefined`: it is not there. */
export async function readEntry(
  { repository, at, path }: ObjectPlace,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  const query = { at, prefix: path, limit: 1 }
  const { entries } = await get('/repositories/{repository}/objects', { path: { repository }, query, signal })
  return entries.find((entry) => entry.kind === 'object' && entry.path === path)
}
