/** The repository in memory that workspaces of a pipeline under test come from, and what was published to it. */

import { MissingError } from '../../base/errors.ts'
import { branchName, type BranchName, type CommitRef, type RepositoryName } from '../../base/ids.ts'
import type { CommitRecord, VersionedRepo } from '../../publication/ports.ts'
import type { Tree } from '../repo-model.ts'
import type { ScriptedRepo } from '../scripted-repo.ts'

export interface Publication {
  readonly branch: string
  /** The unit that published it; `undefined` for a commit of somebody else. */
  readonly unit: string | undefined
  /** 1, and one more with each retry. */
  readonly attempt: number | undefined
  readonly ref: string
  readonly message: string
  /** The paths that it added, changed or removed. */
  readonly paths: readonly string[]
}

export class TestRepository {
  readonly repo: ScriptedRepo
  /** Where branches stood before anything ran. */
  readonly #heads: ReadonlyMap<BranchName, CommitRef>

  constructor(repo: ScriptedRepo) {
    this.repo = repo
    this.#heads = new Map([...repo.model.branches].map(([branch, { head }]) => [branch, head]))
  }

  readonly open = (repository: RepositoryName): VersionedRepo => {
    if (repository === this.repo.repository) return this.repo.connect('worker')
    throw new MissingError(
      'testing/no-such-repository',
      `open the repository "${repository}": the test has only "${this.repo.repository}"`,
      { next: 'Leave the workspace out of the input, or name this repository in it.' },
    )
  }

  /** The workspace that a run begins with: a branch, at its present head. */
  workspace(branch: string = this.repo.defaultBranch) {
    const ref = this.repo.head(branchName(branch))
    if (ref !== undefined)
      return {
        repository: String(this.repo.repository),
        branch,
        refType: 'commit',
        ref: String(ref),
      } as const
    throw new MissingError('testing/no-such-branch', `read the branch "${branch}": it does not exist`, {
      next: 'Commit something to it first.',
    })
  }

  /** Text by path, as the branch is now. */
  files(branch: string = this.repo.defaultBranch): Readonly<Record<string, string>> {
    const tree: Tree = this.repo.model.treeAt(branchName(branch)) ?? new Map()
    return Object.fromEntries([...tree].map(([path, { bytes }]) => [path, Buffer.from(bytes).toString()]))
  }

  /** What stands on the branches and was not there before, the oldest first. */
  published(): readonly Publication[] {
    const { branches } = this.repo.model
    return [...branches]
      .filter(([, { hidden }]) => !hidden)
      .flatMap(([branch, { head }]) =>
        this.#since(head, this.#heads.get(branch)).map((commit) => this.#publication(branch, commit)),
      )
  }

  #since(head: CommitRef, before: CommitRef | undefined): readonly CommitRecord[] {
    const commits: CommitRecord[] = []
    for (const commit of this.repo.model.ancestors(head, { firstParent: true })) {
      if (commit.ref === before || commit.parents.length === 0) break
      commits.unshift(commit)
    }
    return commits
  }

  #publication(branch: BranchName, { ref, message, metadata, parents }: CommitRecord): Publication {
    const { model } = this.repo
    const treeOf = (at: CommitRef | undefined): Tree =>
      (at === undefined ? undefined : model.treeAt(at)) ?? new Map()
    const attempt = metadata['publish.attempt']
    return {
      ...{ branch, ref, message },
      unit: metadata['publish.task'],
      attempt: attempt === undefined ? undefined : Number(attempt) + 1,
      paths: model.diff(treeOf(parents[0]), treeOf(ref)).map(({ path }) => path),
    }
  }
}
