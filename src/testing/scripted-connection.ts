/** A scripted repository as one client sees it: the script decides about each request. */

import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  errorKindOf,
  InvalidError,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
} from '../base/errors.ts'
import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type {
  ByteRange,
  CallOptions,
  Change,
  CommitOutcome,
  CommitRecord,
  ListEntry,
  MergeOutcome,
  MergeRequest,
  MoveOutcome,
  ObjectStat,
  UploadBody,
  VersionedRepo,
  WriteGuard,
} from '../publication/ports.ts'
import { EXPECTED_HEAD, FENCE_MARKER, FENCE_MD5, FENCE_PATH } from '../publication/fence-file.ts'
import type { RepoModel, StoredObject, Tree } from './repo-model.ts'
import type { RepoRequest, ScriptedWorld } from './scripted-world.ts'

/** Opens the repository for one client. */
export function connect(world: ScriptedWorld, client: string): VersionedRepo {
  return new Connection(world, client)
}

class Connection implements VersionedRepo {
  readonly repository: RepositoryName
  readonly #world: ScriptedWorld
  readonly #client: string

  constructor(world: ScriptedWorld, client: string) {
    this.#world = world
    this.#client = client
    this.repository = world.repository
  }

  createBranch: VersionedRepo['createBranch'] = ({ branch, from, hidden = false }, options) =>
    this.#write('createBranch', branch, options, () => {
      const { model } = this.#world
      if (model.branches.has(branch)) return { created: false }
      if (model.commit(from) === undefined) throw missing(`commit ${from}`)
      this.#world.move({ client: this.#client, branch, how: 'create', to: from })
      model.branches.set(branch, { head: from, hidden, uncommitted: new Map() })
      return { created: true }
    })

  readBranch: VersionedRepo['readBranch'] = (branch, options) =>
    this.#read('readBranch', branch, options, () => {
      const head = this.#world.head(branch)
      this.#world.noteReading(this.#client, branch, head)
      return head && { branch, head }
    })

  listBranches: VersionedRepo['listBranches'] = ({ prefix = '', hidden = false } = {}, options) =>
    iterate(() =>
      this.#read('listBranches', undefined, options, () =>
        [...this.#world.model.branches]
          .filter(([name, branch]) => name.startsWith(prefix) && (hidden || !branch.hidden))
          .map(([branch, { head }]) => ({ branch, head }))
          .sort((a, b) => (a.branch < b.branch ? -1 : 1)),
      ),
    )

  deleteBranch: VersionedRepo['deleteBranch'] = (branch, options) =>
    this.#write('deleteBranch', branch, options, () => {
      const { model, defaultBranch } = this.#world
      if (branch !== defaultBranch) return { deleted: model.branches.delete(branch) }
      throw new RefusedError('testing/default-branch', `delete branch ${branch}: it is the default branch`)
    })

  /** Three requests, as over HTTP: another client can act between them, so the move is soft. */
  moveBranch: VersionedRepo['moveBranch'] = async (
    { branch, expectedHead, to },
    options,
  ): Promise<MoveOutcome> => {
    let seen: CommitRef | undefined
    const look: WriteGuard = {
      confirm: async (call) => (seen = await this.#headOf(branch, call)) === expectedHead,
      mayBegin: () => true,
    }
    if (!(await isWanted(options?.guard ?? look, options))) return { moved: false, head: seen }
    await this.#write('resetBranch', branch, options, () => {
      this.#openBranch(branch)
      if (this.#world.model.commit(to) === undefined) throw missing(`commit ${to}`)
      this.#world.move({ client: this.#client, branch, how: 'reset', to })
    })
    const after = await this.#readBack(branch, options)
    return after === to ? { moved: true, strength: 'soft' } : { moved: false, head: after }
  }

  createTag: VersionedRepo['createTag'] = async ({ tag, at }, options) => {
    const created = await this.#write('createTag', undefined, options, () => {
      const { model } = this.#world
      if (model.commit(at) === undefined) throw missing(`commit ${at}`)
      if (model.tags.has(tag)) return false
      model.tags.set(tag, at)
      return true
    })
    if (created) return { created }
    const there = await this.#read('readTag', undefined, options, () => this.#world.model.tags.get(tag))
    if (there === undefined) throw missing(`tag ${tag}`)
    return { created, at: there }
  }

  readCommit: VersionedRepo['readCommit'] = (ref, options) =>
    this.#read('readCommit', undefined, options, () => this.#world.model.commit(ref))

  log: VersionedRepo['log'] = (from, options = {}) =>
    iterate(async () => {
      const { firstParent = false, limit = Infinity, stopAt } = options
      if (limit <= 0) return []
      return this.#read('log', from as BranchName, options, () => {
        const { model } = this.#world
        const head = model.headOf(from)
        if (model.branches.has(from as BranchName))
          this.#world.noteReading(this.#client, from as BranchName, head)
        if (head === undefined) throw missing(`ref ${from}`)
        const shown: CommitRecord[] = []
        for (const commit of model.ancestors(head, { firstParent })) {
          shown.push(commit)
          if (shown.length >= limit || commit.ref === stopAt) break
        }
        return shown
      })
    })

  list: VersionedRepo['list'] = (at, options = {}) =>
    iterate(() => this.#read('list', undefined, options, () => listTree(this.#tree(at), options)))

  stat: VersionedRepo['stat'] = (at, path, options) =>
    this.#read('stat', undefined, options, () => {
      const found = this.#tree(at).get(path)
      return found && statOf(found)
    })

  read: VersionedRepo['read'] = async (at, path, options = {}) => {
    const found = await this.#read('read', undefined, options, () => this.#tree(at).get(path))
    if (found === undefined) return undefined
    const bytes = options.range === undefined ? found.bytes : cutRange(found, options.range)
    return { ...statOf(found), sizeBytes: bytes.byteLength, body: Readable.from([bytes]) }
  }

  write: VersionedRepo['write'] = async (
    { branch, path, body, contentType, metadata, ifAbsent },
    options,
  ) => {
    const bytes = await gather(body)
    return this.#write('write', branch, options, () => {
      const { uncommitted } = this.#openBranch(branch)
      if (ifAbsent === true && this.#tree(branch).has(path)) return { written: false, reason: 'exists' }
      const object = this.#world.model.object(path, bytes, { contentType, metadata })
      uncommitted.set(path, object)
      return { written: true, object: statOf(object) }
    })
  }

  deleteObjects: VersionedRepo['deleteObjects'] = (branch, paths, options) =>
    this.#write('deleteObjects', branch, options, () => {
      const { uncommitted } = this.#openBranch(branch)
      for (const path of paths) uncommitted.set(path, undefined)
    })

  diff: VersionedRepo['diff'] = (from, to, options = {}) =>
    iterate(() =>
      this.#read('diff', undefined, options, () =>
        pickChanges(this.#world.model.diff(this.#tree(from), this.#tree(to)), options),
      ),
    )

  commit: VersionedRepo['commit'] = (request, options) =>
    this.#write('commit', request.branch, options, (): CommitOutcome => {
      const { branch: name, message, metadata = {}, allowEmpty = false, sourceMetaRange } = request
      const { model } = this.#world
      const branch = this.#openBranch(name)
      const changes = model.diff(this.#tree(branch.head), this.#tree(name))
      if (sourceMetaRange !== undefined && changes.length > 0)
        return { committed: false, reason: 'dirty-branch' }
      const tree = sourceMetaRange === undefined ? this.#tree(name) : model.treeOfMetaRange(sourceMetaRange)
      if (tree === undefined) throw missing(`meta range ${sourceMetaRange ?? ''}`)
      const isEmpty = sourceMetaRange === undefined && changes.length === 0
      if (isEmpty && !allowEmpty) return { committed: false, reason: 'nothing-to-commit' }
      branch.uncommitted.clear()
      const commit = model.addCommit({ parents: [branch.head], message, metadata, tree })
      this.#world.move({ client: this.#client, branch: name, how: 'commit', to: commit.ref })
      return { committed: true, commit }
    })

  merge: VersionedRepo['merge'] = async (request, options) => {
    if (!(await isWanted(options?.guard, options))) return { merged: false, reason: 'withheld' }
    return this.#write('merge', request.into, options, (): MergeOutcome => {
      const { source, into, squash = false, strategy } = request
      const allowEmpty = request.allowEmpty === true || request.force === true
      const { model } = this.#world
      const target = this.#branch(into)
      if (model.commit(source) === undefined) throw missing(`commit ${source}`)
      if (model.diff(this.#tree(target.head), this.#tree(into)).length > 0)
        return { merged: false, reason: 'dirty-target' }
      const merged = model.mergeTrees(source, target.head, strategy)
      if ('refused' in merged && !(merged.refused === 'nothing-to-merge' && allowEmpty))
        return { merged: false, reason: merged.refused }
      const refusal = this.#askFence(request, target.head)
      if (refusal !== undefined) return refusal
      const commit = model.addCommit({
        parents: squash ? [target.head] : [target.head, source],
        message: request.message ?? `Merge '${source}' into '${into}'`,
        metadata: { ...request.metadata, '.lakefs.merge.strategy': strategy ?? 'default' },
        tree: 'tree' in merged ? merged.tree : this.#tree(target.head),
      })
      this.#world.move({ client: this.#client, branch: into, how: 'merge', to: commit.ref })
      return { merged: true, ref: commit.ref }
    })
  }

  writeCommit: VersionedRepo['writeCommit'] = (fields, options) =>
    this.#write('writeCommit', undefined, options, () => {
      const { model, takesRecords } = this.#world
      if (!takesRecords) throw new RefusedError('testing/no-records', 'write a commit: it is not allowed')
      const tree = model.treeOfMetaRange(fields.metaRange)
      if (tree === undefined) throw missing(`meta range ${fields.metaRange}`)
      return model.addRecord(fields, tree).ref
    })

  collapseClaim: VersionedRepo['collapseClaim'] = ({ branch, claim }, options) =>
    this.#collapse(branch, options, () => {
      const { model } = this.#world
      let at: CommitRef | undefined = this.#openBranch(branch).head
      for (const parent of claim === 'hard' ? [2, 3] : [2, 2, claim.width, 3])
        at = at && model.commit(at)?.parents[parent - 1]
      if (at !== undefined) this.#world.move({ client: this.#client, branch, how: 'reset', to: at })
      return { collapsed: at !== undefined }
    })

  takesReset: VersionedRepo['takesReset'] = async (branch, options) => {
    try {
      await this.#collapse(branch, options, () => this.#openBranch(branch))
      return true
    } catch (error) {
      if (errorKindOf(error) === 'refused') return false
      throw error
    }
  }

  #collapse<T>(branch: BranchName, options: CallOptions | undefined, effect: () => T): Promise<T> {
    const call = {
      client: this.#client,
      request: 'resetBranch',
      branch,
      writes: true,
      isCollapse: true,
    } as const
    return this.#world.serve(call, effect, options)
  }

  /** As the hook in the fence's file does it, on the head that is replaced. */
  #askFence({ source, metadata }: MergeRequest, head: CommitRef): MergeOutcome | undefined {
    const expected = metadata?.[EXPECTED_HEAD]
    if (!this.#world.runsActions || expected === undefined || expected === head) return undefined
    if (this.#tree(source).get(FENCE_PATH)?.checksum !== FENCE_MD5) return undefined
    return { merged: false, reason: 'hook-refused', message: `${FENCE_MARKER} head=${head}` }
  }

  #branch(name: BranchName): NonNullable<ReturnType<RepoModel['branches']['get']>> {
    const branch = this.#world.model.branches.get(name)
    if (branch === undefined) throw missing(`branch ${name}`)
    return branch
  }

  /** For everything but a merge. */
  #openBranch(name: BranchName): NonNullable<ReturnType<RepoModel['branches']['get']>> {
    const branch = this.#branch(name)
    if (!this.#world.protectedBranches.has(name)) return branch
    throw new RefusedError('testing/protected-branch', `write branch ${name}: it is protected`)
  }

  #tree(at: CommitRef | BranchName): Tree {
    const tree = this.#world.model.treeAt(at)
    if (tree === undefined) throw missing(`ref ${at}`)
    return tree
  }

  /** As over HTTP: "surely not done" is true of the reading alone, since the branch was moved. */
  async #readBack(branch: BranchName, options: CallOptions | undefined): Promise<CommitRef> {
    try {
      return await this.#headOf(branch, options)
    } catch (cause) {
      if (errorKindOf(cause) !== 'unavailable') throw cause
      const said = `branch ${branch} was moved, and could not be read afterwards`
      throw new UncertainError('testing/answer-lost', said, { read: 'the head of the branch', cause })
    }
  }

  async #headOf(branch: BranchName, options: CallOptions | undefined): Promise<CommitRef> {
    const found = await this.readBranch(branch, options)
    if (found === undefined) throw missing(`branch ${branch}`)
    return found.head
  }

  #read<T>(
    request: RepoRequest,
    branch: BranchName | undefined,
    options: CallOptions | undefined,
    effect: () => T,
  ): Promise<T> {
    return this.#world.serve({ client: this.#client, request, branch, writes: false }, effect, options)
  }

  #write<T>(
    request: RepoRequest,
    branch: BranchName | undefined,
    options: CallOptions | undefined,
    effect: () => T,
  ): Promise<T> {
    return this.#world.serve({ client: this.#client, request, branch, writes: true }, effect, options)
  }
}

/** A guard is asked as over HTTP: until what it has read is young enough, a few times. */
async function isWanted(guard: WriteGuard | undefined, { signal }: CallOptions = {}): Promise<boolean> {
  if (guard === undefined) return true
  for (let count = 0; count < CONFIRMATIONS_MAX; count++) {
    if (!(await guard.confirm({ signal }))) return false
    if (guard.mayBegin()) return true
  }
  throw new UnavailableError('testing/not-sent', 'a branch write was not confirmed in time')
}

const CONFIRMATIONS_MAX = 5

function missing(what: string): MissingError {
  return new MissingError('testing/missing', `${what}: it does not exist`)
}

async function* iterate<T>(load: () => Promise<readonly T[]>): AsyncGenerator<T, void, undefined> {
  yield* await load()
}

async function gather(body: UploadBody): Promise<Uint8Array> {
  const bytes = await readWhole(body)
  if (bytes.byteLength === body.sizeBytes) return bytes
  throw new InvalidError('testing/bad-body', 'the body does not have the declared size')
}

async function readWhole(body: UploadBody): Promise<Uint8Array> {
  const source = body.open()
  if (source instanceof Uint8Array) return source
  try {
    return await buffer(source)
  } catch (cause) {
    throw new InvalidError('testing/bad-body', 'reading the body failed', { cause })
  }
}

function cutRange({ bytes, sizeBytes }: StoredObject, { start, end = sizeBytes }: ByteRange): Uint8Array {
  if (start < sizeBytes && end >= start) return bytes.subarray(start, end + 1)
  throw new InvalidError('lakefs/bad-range', `read bytes ${start} to ${end} of ${sizeBytes}: out of range`)
}

function statOf(object: StoredObject): ObjectStat {
  const { path, checksum, sizeBytes, modifiedAt, contentType, metadata } = object
  return { path, checksum, sizeBytes, modifiedAt, contentType, metadata }
}

function pickChanges(
  changes: readonly Change[],
  of: { readonly prefix?: string; readonly after?: string },
): Change[] {
  const { prefix = '', after } = of
  return changes.filter(
    ({ path }) => path.startsWith(prefix) && (after === undefined || isAfter(path, after)),
  )
}

function listTree(
  tree: Tree,
  of: { readonly prefix?: string; readonly after?: string; readonly delimiter?: string },
): ListEntry[] {
  const { prefix = '', after, delimiter } = of
  const entries: ListEntry[] = []
  let lastPrefix: string | undefined
  for (const object of tree.values()) {
    const { path } = object
    if (!path.startsWith(prefix) || (after !== undefined && !isAfter(path, after))) continue
    const cut = delimiter === undefined ? -1 : path.indexOf(delimiter, prefix.length)
    if (cut < 0) entries.push({ kind: 'object', ...statOf(object) })
    else {
      const common = path.slice(0, cut + (delimiter?.length ?? 0))
      if (common !== lastPrefix && common !== after) entries.push({ kind: 'prefix', path: common })
      lastPrefix = common
    }
  }
  return entries
}

function isAfter(path: string, after: string): boolean {
  return Buffer.compare(Buffer.from(path), Buffer.from(after)) > 0
}
