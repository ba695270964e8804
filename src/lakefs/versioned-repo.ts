/** The versioned repository that publication asks for, met by one repository of a lakeFS server. */

import type { RepositoryName } from '../base/ids.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import {
  createBranch,
  deleteBranch,
  listBranches,
  moveBranch,
  readBranch,
  resetToExpression,
} from './branches.ts'
import type { LakefsClient } from './client.ts'
import { commit, merge, readCommit, readLog, writeCommitRecord } from './commits.ts'
import type { RepoContext } from './context.ts'
import { diffCommits, diffForMerge, diffUncommitted } from './diffs.ts'
import { deleteObjects, download, listObjects, read, stat, write } from './objects.ts'
import { createTag } from './tags.ts'

/**
 * Asks the server nothing yet; a repository that is not there shows with the first operation.
 *
 * ```ts
 * const repo = openLakefsRepo(client, repositoryName('my-data'))
 * const head = await repo.readBranch(branchName('main'))
 * ```
 */
export function openLakefsRepo(client: LakefsClient, repository: RepositoryName): VersionedRepo {
  const context: RepoContext = { client, repository }
  return {
    repository,

    createBranch: (request, options) => createBranch(context, request, options),
    readBranch: (branch, options) => readBranch(context, branch, options),
    listBranches: (request, options) => listBranches(context, request, options),
    deleteBranch: (branch, options) => deleteBranch(context, branch, options),
    moveBranch: (request, options) => moveBranch(context, request, options),
    resetToExpression: (request, options) => resetToExpression(context, request, options),
    createTag: (request, options) => createTag(context, request, options),

    readCommit: (ref, options) => readCommit(context, ref, options),
    log: (from, options) => readLog(context, from, options),
    writeCommitRecord: (record, options) => writeCommitRecord(context, record, options),

    list: (at, options) => listObjects(context, at, options),
    stat: (at, path, options) => stat(context, at, path, options),
    read: (at, path, options) => read(context, at, path, options),
    download: (at, path, open, options) => download(context, at, path, open, options),
    write: (request, options) => write(context, request, options),
    deleteObjects: (branch, paths, options) => deleteObjects(context, branch, paths, options),

    diff: (from, to, options) => diffCommits(context, from, to, options),
    diffForMerge: (into, source, options) => diffForMerge(context, into, source, options),
    diffUncommitted: (branch, options) => diffUncommitted(context, branch, options),

    commit: (request, options) => commit(context, request, options),
    merge: (request, options) => merge(context, request, options),
  }
}
