/**
 * A versioned repository in memory. A script decides about every request: it may wait, be refused, lose its answer before
 * or after it took effect, or take effect late. Several clients share one repository; it records what each client was shown
 * and what moved each branch.
 */

import { abortReason } from '../base/clock.ts'
import { UnavailableError, UncertainError } from '../base/errors.ts'
import {
  branchName,
  repositoryName,
  type BranchName,
  type CommitRef,
  type RepositoryName,
} from '../base/ids.ts'
import type { CallOptions, VersionedRepo } from '../publication/ports.ts'
import { RepoModel, sortTree } from './repo-model.ts'
import { connect } from './scripted-connection.ts'
import type { BranchUpdate, HeadReading, RepoCall, RepoScript, ScriptedWorld } from './scripted-world.ts'

/** The default script: every request succeeds at once. */
export const calmScript: RepoScript = {
  arrive: () => Promise.resolve('none'),
  answer: () => Promise.resolve(),
  later: (_, effect) => effect(),
}

export interface ScriptedRepoOptions {
  /** Decides what becomes of each request. Default: `calmScript`, every request succeeds at once. */
  readonly script?: RepoScript
  /** The time of new commits, cut to whole seconds. Default: that of the machine. */
  readonly now?: () => Date
  /** The name that the repository has for its clients. Default: `scripted`. */
  readonly repository?: RepositoryName
  /** The branch that exists from the start, with one commit. Default: `main`. */
  readonly defaultBranch?: BranchName
  /** Whether the publish fence is evaluated where its file is; true unless set. Other hooks do not exist here. */
  readonly runsActions?: boolean
  /** Whether it takes commits that no branch holds; true unless set. */
  readonly takesRecords?: boolean
}

/**
 * ```ts
 * const loseMerges = { ...calmScript, arrive: async ({ request }) => (request === 'merge' ? 'lose-answer' : 'none') }
 * const world = new ScriptedRepo({ script: loseMerges })
 * const repo = world.connect('worker-1')
 * await repo.readBranch(branchName('main'))
 * ```
 */
export class ScriptedRepo implements ScriptedWorld {
  readonly repository: RepositoryName
  readonly model: RepoModel
  readonly defaultBranch: BranchName
  runsActions: boolean
  readonly takesRecords: boolean
  readonly protectedBranches = new Set<BranchName>()
  /** Every request, in the order of arrival. */
  readonly calls: RepoCall[] = []
  readonly updates: BranchUpdate[] = []
  readonly readings: HeadReading[] = []
  readonly #script: RepoScript
  #order = 0
  /** Set while the effect of a request runs. */
  #sentAfter: number | undefined

  constructor(options: ScriptedRepoOptions = {}) {
    const { script = calmScript, now = () => new Date(), defaultBranch = branchName('main') } = options
    this.repository = options.repository ?? repositoryName('scripted')
    this.#script = script
    this.runsActions = options.runsActions ?? true
    this.takesRecords = options.takesRecords ?? true
    this.defaultBranch = defaultBranch
    this.model = new RepoModel(now)
    const first = this.model.addCommit({
      parents: [],
      message: 'Repository created',
      metadata: {},
      tree: new Map(),
    })
    this.model.branches.set(defaultBranch, { head: first.ref, hidden: false, uncommitted: new Map() })
  }

  head(branch: BranchName): CommitRef | undefined {
    return this.model.branches.get(branch)?.head
  }

  /** The repository as one client sees it. */
  connect(client: string): VersionedRepo {
    return connect(this, client)
  }

  /** Puts a commit on a branch as another writer would; the script is not asked. */
  commitDirectly(
    branch: BranchName,
    files: Readonly<Record<string, string>>,
    message = 'Foreign work',
  ): CommitRef {
    const before = this.head(branch)
    const tree = new Map(before && this.model.treeAt(before))
    for (const [path, text] of Object.entries(files))
      tree.set(path, this.model.object(path, Buffer.from(text), {}))
    const { ref } = this.model.addCommit({
      parents: before === undefined ? [] : [before],
      message,
      metadata: { order: String(this.#order) },
      tree: sortTree(tree),
    })
    this.move({ client: 'direct', branch, how: 'commit', to: ref })
    return ref
  }

  move(update: Pick<BranchUpdate, 'client' | 'branch' | 'how' | 'to'>): void {
    const branch = this.model.branches.get(update.branch)
    const from = branch?.head
    if (branch === undefined)
      this.model.branches.set(update.branch, { head: update.to, hidden: false, uncommitted: new Map() })
    else branch.head = update.to
    this.updates.push({
      ...update,
      from,
      order: ++this.#order,
      sentAfter: this.#sentAfter ?? this.#order - 1,
    })
  }

  noteReading(client: string, branch: BranchName, head: CommitRef | undefined): void {
    this.readings.push({ client, branch, head, order: ++this.#order })
  }

  /** Carries out one request as the script decides. */
  async serve<T>(of: Omit<RepoCall, 'number'>, effect: () => T, options: CallOptions = {}): Promise<T> {
    if (options.signal?.aborted === true) throw abortReason(options.signal)
    const sentAfter = this.#order
    const run = (): Attempted<T> => this.#attempt(effect, sentAfter)
    const call = { ...of, number: this.calls.length + 1 }
    this.calls.push(call)
    const fault = await this.#script.arrive(call)
    switch (fault) {
      case 'refuse':
        throw unavailable(call)
      case 'lose-request':
        throw lost(call)
      case 'late':
        if (call.writes) this.#script.later(call, () => void run())
        throw lost(call)
      case 'lose-answer':
        run()
        await this.#script.answer(call)
        throw lost(call)
      case 'twice':
      case 'none': {
        const result = run()
        if (fault === 'twice' && call.writes) this.#script.later(call, () => void run())
        await this.#script.answer(call)
        if ('error' in result) throw result.error
        return result.value
      }
    }
  }

  #attempt<T>(effect: () => T, sentAfter: number): Attempted<T> {
    this.#sentAfter = sentAfter
    try {
      return { value: effect() }
    } catch (error) {
      return { error }
    } finally {
      this.#sentAfter = undefined
    }
  }
}

type Attempted<T> = { readonly value: T } | { readonly error: unknown }

// A read has no effect that could be uncertain.
function lost(call: RepoCall): UncertainError | UnavailableError {
  if (!call.writes) return unavailable(call)
  return new UncertainError(
    'testing/answer-lost',
    `${call.request} (request ${call.number}): the answer was lost`,
    { read: 'the branch' },
  )
}

function unavailable(call: RepoCall): UnavailableError {
  return new UnavailableError('testing/unavailable', `${call.request} (request ${call.number}): not now`)
}
