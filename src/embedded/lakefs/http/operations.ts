/**
 * Every operation the embedded server answers: its name (as the API description spells it), method and path.
 * Routing, authentication, the request history and fault rules all read this one table.
 */

export interface Operation {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Below the API's base path; `{name}` takes one segment. */
  readonly path: string
  /** Answered without credentials. */
  readonly open?: true
}

const REPOSITORY = '/repositories/{repository}'
const BRANCH = `${REPOSITORY}/branches/{branch}`
const REF = `${REPOSITORY}/refs/{ref}`

export const OPERATIONS = {
  // ── the server itself
  healthCheck: { method: 'GET', path: '/healthcheck', open: true },
  getSetupState: { method: 'GET', path: '/setup_lakefs', open: true },
  setup: { method: 'POST', path: '/setup_lakefs', open: true },
  setupCommPrefs: { method: 'POST', path: '/setup_comm_prefs', open: true },
  login: { method: 'POST', path: '/auth/login', open: true },
  getCurrentUser: { method: 'GET', path: '/user' },
  getAuthCapabilities: { method: 'GET', path: '/auth/capabilities', open: true },
  getConfig: { method: 'GET', path: '/config' },
  getStorageConfig: { method: 'GET', path: '/config/storage' },
  getLakeFSVersion: { method: 'GET', path: '/config/version' },
  getGarbageCollectionConfig: { method: 'GET', path: '/config/garbage-collection' },
  postStatsEvents: { method: 'POST', path: '/statistics' },

  // ── repositories
  listRepositories: { method: 'GET', path: '/repositories' },
  createRepository: { method: 'POST', path: '/repositories' },
  getRepository: { method: 'GET', path: REPOSITORY },
  deleteRepository: { method: 'DELETE', path: REPOSITORY },
  getRepositoryMetadata: { method: 'GET', path: `${REPOSITORY}/metadata` },
  getBranchProtectionRules: { method: 'GET', path: `${REPOSITORY}/settings/branch_protection` },
  setBranchProtectionRules: { method: 'PUT', path: `${REPOSITORY}/settings/branch_protection` },
  getGCRules: { method: 'GET', path: `${REPOSITORY}/settings/gc_rules` },

  // ── tags and branches
  listTags: { method: 'GET', path: `${REPOSITORY}/tags` },
  createTag: { method: 'POST', path: `${REPOSITORY}/tags` },
  getTag: { method: 'GET', path: `${REPOSITORY}/tags/{tag}` },
  deleteTag: { method: 'DELETE', path: `${REPOSITORY}/tags/{tag}` },
  listBranches: { method: 'GET', path: `${REPOSITORY}/branches` },
  createBranch: { method: 'POST', path: `${REPOSITORY}/branches` },
  getBranch: { method: 'GET', path: BRANCH },
  deleteBranch: { method: 'DELETE', path: BRANCH },
  resetBranch: { method: 'PUT', path: BRANCH },
  hardResetBranch: { method: 'PUT', path: `${BRANCH}/hard_reset` },
  revertBranch: { method: 'POST', path: `${BRANCH}/revert` },
  cherryPick: { method: 'POST', path: `${BRANCH}/cherry-pick` },
  diffBranch: { method: 'GET', path: `${BRANCH}/diff` },

  // ── commits and merges
  commit: { method: 'POST', path: `${BRANCH}/commits` },
  createCommitRecord: { method: 'POST', path: `${REPOSITORY}/commits` },
  getCommit: { method: 'GET', path: `${REPOSITORY}/commits/{commitId}` },
  logCommits: { method: 'GET', path: `${REF}/commits` },
  diffRefs: { method: 'GET', path: `${REF}/diff/{rightRef}` },
  mergeIntoBranch: { method: 'POST', path: `${REF}/merge/{destinationBranch}` },
  findMergeBase: { method: 'GET', path: `${REF}/merge/{destinationBranch}` },

  // ── objects
  getObject: { method: 'GET', path: `${REF}/objects` },
  headObject: { method: 'HEAD', path: `${REF}/objects` },
  statObject: { method: 'GET', path: `${REF}/objects/stat` },
  listObjects: { method: 'GET', path: `${REF}/objects/ls` },
  getUnderlyingProperties: { method: 'GET', path: `${REF}/objects/underlyingProperties` },
  uploadObject: { method: 'POST', path: `${BRANCH}/objects` },
  deleteObject: { method: 'DELETE', path: `${BRANCH}/objects` },
  deleteObjects: { method: 'POST', path: `${BRANCH}/objects/delete` },
  copyObject: { method: 'POST', path: `${BRANCH}/objects/copy` },
  updateObjectUserMetadata: { method: 'PUT', path: `${BRANCH}/objects/stat/user_metadata` },
  uploadObjectPreflight: { method: 'GET', path: `${BRANCH}/objects/stage_allowed` },

  // ── bytes that go around the API
  getPhysicalAddress: { method: 'GET', path: `${BRANCH}/staging/backing` },
  linkPhysicalAddress: { method: 'PUT', path: `${BRANCH}/staging/backing` },
  createPresignMultipartUpload: { method: 'POST', path: `${BRANCH}/staging/pmpu` },
  completePresignMultipartUpload: { method: 'PUT', path: `${BRANCH}/staging/pmpu/{uploadId}` },
  uploadPart: { method: 'PUT', path: `${BRANCH}/staging/pmpu/{uploadId}/parts/{partNumber}` },
  abortPresignMultipartUpload: { method: 'DELETE', path: `${BRANCH}/staging/pmpu/{uploadId}` },

  // ── action runs
  listRepositoryRuns: { method: 'GET', path: `${REPOSITORY}/actions/runs` },
  getRun: { method: 'GET', path: `${REPOSITORY}/actions/runs/{run}` },
  listRunHooks: { method: 'GET', path: `${REPOSITORY}/actions/runs/{run}/hooks` },
  getRunHookOutput: { method: 'GET', path: `${REPOSITORY}/actions/runs/{run}/hooks/{hookRun}/output` },
} as const satisfies Record<string, Operation>

/** Operations outside the API's base path: signed addresses of single objects and parts, and the open health page. */
export const SIDE_OPERATIONS = ['presignedGet', 'presignedPut', 'serverHealth'] as const

export type ApiOperationName = keyof typeof OPERATIONS
export type OperationName = ApiOperationName | (typeof SIDE_OPERATIONS)[number]
