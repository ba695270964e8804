/** The handler of every operation. An operation without one does not compile. */

import * as runs from './action-run-handlers.ts'
import * as commits from './commit-handlers.ts'
import * as downloads from './download-handlers.ts'
import type { Handler } from './exchange.ts'
import * as objects from './object-handlers.ts'
import type { ApiOperationName } from './operations.ts'
import * as refs from './ref-handlers.ts'
import * as repositories from './repository-handlers.ts'
import * as server from './server-handlers.ts'
import * as staging from './staging-handlers.ts'

export const HANDLERS: Readonly<Record<ApiOperationName, Handler>> = {
  healthCheck: server.healthCheck,
  getSetupState: server.getSetupState,
  setup: server.setup,
  setupCommPrefs: server.setupCommPrefs,
  login: server.login,
  getCurrentUser: server.getCurrentUser,
  getAuthCapabilities: server.getAuthCapabilities,
  getConfig: server.getConfig,
  getStorageConfig: server.getStorageConfig,
  getLakeFSVersion: server.getLakeFSVersion,
  getGarbageCollectionConfig: server.getGarbageCollectionConfig,
  postStatsEvents: server.postStatsEvents,
  listRepositories: repositories.listRepositories,
  createRepository: repositories.createRepository,
  getRepository: repositories.getRepository,
  deleteRepository: repositories.deleteRepository,
  getRepositoryMetadata: repositories.getRepositoryMetadata,
  getBranchProtectionRules: repositories.getBranchProtectionRules,
  setBranchProtectionRules: repositories.setBranchProtectionRules,
  getGCRules: repositories.getGCRules,
  listTags: refs.listTags,
  createTag: refs.createTag,
  getTag: refs.getTag,
  deleteTag: refs.deleteTag,
  listBranches: refs.listBranches,
  createBranch: refs.createBranch,
  getBranch: refs.getBranch,
  deleteBranch: refs.deleteBranch,
  resetBranch: refs.resetBranch,
  hardResetBranch: refs.hardResetBranch,
  revertBranch: commits.revertBranch,
  cherryPick: commits.cherryPick,
  diffBranch: commits.diffBranch,
  commit: commits.commit,
  createCommitRecord: commits.createCommitRecord,
  getCommit: commits.getCommit,
  logCommits: commits.logCommits,
  diffRefs: commits.diffRefs,
  mergeIntoBranch: commits.mergeIntoBranch,
  findMergeBase: commits.findMergeBase,
  getObject: downloads.getObject,
  headObject: downloads.headObject,
  statObject: objects.statObject,
  listObjects: objects.listObjects,
  getUnderlyingProperties: objects.getUnderlyingProperties,
  uploadObject: objects.uploadObject,
  deleteObject: objects.deleteObject,
  deleteObjects: objects.deleteObjects,
  copyObject: objects.copyObject,
  updateObjectUserMetadata: objects.updateObjectUserMetadata,
  uploadObjectPreflight: objects.uploadObjectPreflight,
  getPhysicalAddress: staging.getPhysicalAddress,
  linkPhysicalAddress: staging.linkPhysicalAddress,
  createPresignMultipartUpload: staging.createPresignMultipartUpload,
  completePresignMultipartUpload: staging.completePresignMultipartUpload,
  uploadPart: staging.uploadPart,
  abortPresignMultipartUpload: staging.abortPresignMultipartUpload,
  listRepositoryRuns: runs.listRepositoryRuns,
  getRun: runs.getRun,
  listRunHooks: runs.listRunHooks,
  getRunHookOutput: runs.getRunHookOutput,
}
