/** The versioned repository that publication needs: one repository of a lakeFS server. */

import type { RepositoryName } from '../base/ids.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import {
  collapseClaim,
  createBranch,
  deleteBranch,
  listBranches,
  moveBranch,
  readBranch,
  takesReset,
} from './branches.ts'
import { connectionOf, type LakefsClient } from './client.ts'
import { commit, merge, readCommit, readLog, writeCommit } from './commits.ts'
import type { RepoContext } from './context.ts'
import { downloadFiles } from './download-files.ts'
import { diffCommits } from './diffs.ts'
import { deleteObjects, download, listObjects, read, stat } from './objects.ts'
import { createTag } from './tags.ts'
import { uploadObject } from './upload.ts'

/**
 * Sends nothing yet; a missing repository is noticed by the first operation.
 *
 * ```ts
 * const repo = openLakefsRepo(client, repositoryName('my-data'))
 * const head = await repo.readBranch(branchName('main'))
 * ```
 */
export function openLakefsRepo(client: LakefsClient, repository: RepositoryName): VersionedRepo {
  const lakefs = connectionOf(client)
  const context: RepoContext = { lakefs, server: lakefs.server, repository }
  return {
    repository,

    createBranch: createBranch.bind(undefined, context),
    readBranch: readBranch.bind(undefined, context),
    listBranches: listBranches.bind(undefined, context),
    deleteBranch: deleteBranch.bind(undefined, context),
    moveBranch: moveBranch.bind(undefined, context),
    collapseClaim: collapseClaim.bind(undefined, context),
    takesReset: takesReset.bind(undefined, context),
    createTag: createTag.bind(undefined, context),

    readCommit: readCommit.bind(undefined, context),
    log: readLog.bind(undefined, context),
    diff: diffCommits.bind(undefined, context),
    commit: commit.bind(undefined, context),
    writeCommit: writeCommit.bind(undefined, context),
    merge: merge.bind(undefined, context),

    list: listObjects.bind(undefined, context),
    stat: stat.bind(undefined, context),
    read: read.bind(undefined, context),
    download: download.bind(undefined, context),
    downloadFiles: downloadFiles.bind(undefined, context),
    write: uploadObject.bind(undefined, context),
    deleteObjects: deleteObjects.bind(undefined, context),
  }
}
