/**
 * Every operation of the embedded server, one row each. The router, the check of who may call, the reading of bodies,
 * fault rules, the request history and the list in `docs/reference/embedded-lakefs.md` all come from this table.
 */

import * as runs from './action-run-handlers.ts'
import * as commits from './commit-handlers.ts'
import * as downloads from './download-handlers.ts'
import type { Handler } from './exchange.ts'
import type { Reader } from './json-body.ts'
import * as objects from './object-handlers.ts'
import * as presigned from './presigned-handlers.ts'
import * as refs from './ref-handlers.ts'
import * as repositories from './repository-handlers.ts'
import * as server from './server-handlers.ts'
import { PRESIGNED_PATH } from './signatures.ts'
import * as staging from './staging-handlers.ts'

export interface Operation {
  /** `*` takes every method without its own row for this path. */
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | '*'
  /** `{name}` takes one segment. */
  readonly path: string
  readonly handle: Handler<never>
  /** Who may call it. There is one user: credentials allow everything. */
  readonly access: 'anyone' | 'credentials' | 'signature'
  /** The JSON body; left out where there is none, or where the body is the bytes of an object. */
  readonly body?: { readonly schema: Reader<unknown>; readonly optional: boolean } | undefined
}

const API = '/api/v1'
const REPOSITORY = `${API}/repositories/{repository}`
const BRANCH = `${REPOSITORY}/branches/{branch}`
const REF = `${REPOSITORY}/refs/{ref}`
const UPLOAD = `${BRANCH}/staging/pmpu/{uploadId}`
const RUN = `${REPOSITORY}/actions/runs/{run}`

const ANYONE = { access: 'anyone' } as const
const SIGNATURE = { access: 'signature' } as const

export const OPERATIONS = {
  // ── the server itself
  healthCheck: row('GET', `${API}/healthcheck`, server.healthCheck, ANYONE),
  getSetupState: row('GET', `${API}/setup_lakefs`, server.getSetupState, ANYONE),
  setup: row('POST', `${API}/setup_lakefs`, server.setup, { ...ANYONE, body: server.SETUP }),
  setupCommPrefs: row('POST', `${API}/setup_comm_prefs`, server.setupCommPrefs, {
    ...ANYONE,
    optionalBody: server.ANYTHING,
  }),
  login: row('POST', `${API}/auth/login`, server.login, { ...ANYONE, body: server.LOGIN }),
  getCurrentUser: row('GET', `${API}/user`, server.getCurrentUser),
  getAuthCapabilities: row('GET', `${API}/auth/capabilities`, server.getAuthCapabilities, ANYONE),
  getConfig: row('GET', `${API}/config`, server.getConfig),
  getStorageConfig: row('GET', `${API}/config/storage`, server.getStorageConfig),
  getLakeFSVersion: row('GET', `${API}/config/version`, server.getLakeFSVersion),
  getGarbageCollectionConfig: row(
    'GET',
    `${API}/config/garbage-collection`,
    server.getGarbageCollectionConfig,
  ),
  postStatsEvents: row('POST', `${API}/statistics`, server.postStatsEvents, {
    optionalBody: server.ANYTHING,
  }),
  serverHealth: row('GET', '/_health', server.serverHealth, ANYONE),

  // ── repositories
  listRepositories: row('GET', `${API}/repositories`, repositories.listRepositories),
  createRepository: row('POST', `${API}/repositories`, repositories.createRepository, {
    body: repositories.NEW_REPOSITORY,
  }),
  getRepository: row('GET', REPOSITORY, repositories.getRepository),
  deleteRepository: row('DELETE', REPOSITORY, repositories.deleteRepository),
  getRepositoryMetadata: row('GET', `${REPOSITORY}/metadata`, repositories.getRepositoryMetadata),
  getBranchProtectionRules: row(
    'GET',
    `${REPOSITORY}/settings/branch_protection`,
    repositories.getBranchProtectionRules,
  ),
  setBranchProtectionRules: row(
    'PUT',
    `${REPOSITORY}/settings/branch_protection`,
    repositories.setBranchProtectionRules,
    { body: repositories.PROTECTION_RULES },
  ),
  getGCRules: row('GET', `${REPOSITORY}/settings/gc_rules`, repositories.getGCRules),

  // ── tags and branches
  listTags: row('GET', `${REPOSITORY}/tags`, refs.listTags),
  createTag: row('POST', `${REPOSITORY}/tags`, refs.createTag, { body: refs.NEW_TAG }),
  getTag: row('GET', `${REPOSITORY}/tags/{tag}`, refs.getTag),
  deleteTag: row('DELETE', `${REPOSITORY}/tags/{tag}`, refs.deleteTag),
  listBranches: row('GET', `${REPOSITORY}/branches`, refs.listBranches),
  createBranch: row('POST', `${REPOSITORY}/branches`, refs.createBranch, { body: refs.NEW_BRANCH }),
  getBranch: row('GET', BRANCH, refs.getBranch),
  deleteBranch: row('DELETE', BRANCH, refs.deleteBranch),
  resetBranch: row('PUT', BRANCH, refs.resetBranch, { body: refs.RESET }),
  hardResetBranch: row('PUT', `${BRANCH}/hard_reset`, refs.hardResetBranch),
  revertBranch: row('POST', `${BRANCH}/revert`, commits.revertBranch, { body: commits.REVERT }),
  cherryPick: row('POST', `${BRANCH}/cherry-pick`, commits.cherryPick, { body: commits.CHERRY_PICK }),
  diffBranch: row('GET', `${BRANCH}/diff`, commits.diffBranch),

  // ── commits and merges
  commit: row('POST', `${BRANCH}/commits`, commits.commit, { body: commits.COMMIT }),
  createCommitRecord: row('POST', `${REPOSITORY}/commits`, commits.createCommitRecord, {
    body: commits.COMMIT_RECORD,
  }),
  getCommit: row('GET', `${REPOSITORY}/commits/{commitId}`, commits.getCommit),
  logCommits: row('GET', `${REF}/commits`, commits.logCommits),
  diffRefs: row('GET', `${REF}/diff/{rightRef}`, commits.diffRefs),
  mergeIntoBranch: row('POST', `${REF}/merge/{destinationBranch}`, commits.mergeIntoBranch, {
    optionalBody: commits.MERGE,
  }),
  findMergeBase: row('GET', `${REF}/merge/{destinationBranch}`, commits.findMergeBase),

  // ── objects
  getObject: row('GET', `${REF}/objects`, downloads.getObject),
  headObject: row('HEAD', `${REF}/objects`, downloads.headObject),
  statObject: row('GET', `${REF}/objects/stat`, objects.statObject),
  listObjects: row('GET', `${REF}/objects/ls`, objects.listObjects),
  getUnderlyingProperties: row('GET', `${REF}/objects/underlyingProperties`, objects.getUnderlyingProperties),
  uploadObject: row('POST', `${BRANCH}/objects`, objects.uploadObject),
  deleteObject: row('DELETE', `${BRANCH}/objects`, objects.deleteObject),
  deleteObjects: row('POST', `${BRANCH}/objects/delete`, objects.deleteObjects, { body: objects.PATHS }),
  copyObject: row('POST', `${BRANCH}/objects/copy`, objects.copyObject, { body: objects.COPY }),
  updateObjectUserMetadata: row(
    'PUT',
    `${BRANCH}/objects/stat/user_metadata`,
    objects.updateObjectUserMetadata,
    { body: objects.USER_METADATA },
  ),
  uploadObjectPreflight: row('GET', `${BRANCH}/objects/stage_allowed`, objects.uploadObjectPreflight),

  // ── bytes that go around the API
  getPhysicalAddress: row('GET', `${BRANCH}/staging/backing`, staging.getPhysicalAddress),
  linkPhysicalAddress: row('PUT', `${BRANCH}/staging/backing`, staging.linkPhysicalAddress, {
    body: staging.LINK,
  }),
  createPresignMultipartUpload: row('POST', `${BRANCH}/staging/pmpu`, staging.createPresignMultipartUpload),
  completePresignMultipartUpload: row('PUT', UPLOAD, staging.completePresignMultipartUpload, {
    body: staging.COMPLETE,
  }),
  uploadPart: row('PUT', `${UPLOAD}/parts/{partNumber}`, staging.uploadPart, { body: staging.UPLOAD }),
  abortPresignMultipartUpload: row('DELETE', UPLOAD, staging.abortPresignMultipartUpload, {
    body: staging.UPLOAD,
  }),
  presignedGet: row('*', PRESIGNED_PATH, presigned.presignedGet, SIGNATURE),
  presignedPut: row('PUT', PRESIGNED_PATH, presigned.presignedPut, SIGNATURE),

  // ── action runs
  listRepositoryRuns: row('GET', `${REPOSITORY}/actions/runs`, runs.listRepositoryRuns),
  getRun: row('GET', RUN, runs.getRun),
  listRunHooks: row('GET', `${RUN}/hooks`, runs.listRunHooks),
  getRunHookOutput: row('GET', `${RUN}/hooks/{hookRun}/output`, runs.getRunHookOutput),
} satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS

interface Needs {
  /** Left out: credentials. */
  readonly access?: Operation['access']
}

type BodyNeeds<Body> = Needs & ({ readonly body: Reader<Body> } | { readonly optionalBody: Reader<Body> })

/** A handler that reads a body compiles only with a schema that gives it what it reads. */
function row(method: Operation['method'], path: string, handle: Handler, needs?: Needs): Operation
function row<Body>(
  method: Operation['method'],
  path: string,
  handle: Handler<Body>,
  needs: BodyNeeds<Body>,
): Operation
function row(
  method: Operation['method'],
  path: string,
  handle: Operation['handle'],
  needs: Needs & { readonly body?: Reader<unknown>; readonly optionalBody?: Reader<unknown> } = {},
): Operation {
  const schema = needs.body ?? needs.optionalBody
  return {
    method,
    path,
    handle,
    access: needs.access ?? 'credentials',
    body: schema && { schema, optional: needs.optionalBody !== undefined },
  }
}
