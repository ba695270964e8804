/** Branded strings, so that a task id cannot be passed where a branch name belongs. */

import { InvalidError, type ErrorCode } from './errors.ts'

declare const brand: unique symbol
export type Branded<Name extends string> = string & { readonly [brand]: Name }

/** The full 64-digit id of a commit. A *ref* is always a commit, never a branch. */
export type CommitRef = Branded<'CommitRef'>
export type BranchName = Branded<'BranchName'>
export type RepositoryName = Branded<'RepositoryName'>
/** The id of a tree. Equal ids mean equal trees; equal trees may have different ids. */
export type MetaRangeId = Branded<'MetaRangeId'>

const COMMIT_REF = /^[0-9a-f]{64}$/
const BRANCH_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/
const REPOSITORY_NAME = /^[a-z0-9][a-z0-9-]{2,62}$/

export function isCommitRef(text: string): text is CommitRef {
  return COMMIT_REF.test(text)
}

export function commitRef(text: string): CommitRef {
  if (isCommitRef(text)) return text
  throw badId('base/bad-commit-ref', text, 'a commit ref must have 64 lower-case hexadecimal digits')
}

export function isBranchName(text: string): text is BranchName {
  return BRANCH_NAME.test(text)
}

/** lakeFS does not allow a slash or a dot in a branch name. */
export function branchName(text: string): BranchName {
  if (isBranchName(text)) return text
  throw badId(
    'base/bad-branch-name',
    text,
    'a branch name has letters, digits, "_" and "-", and does not start with "-"',
  )
}

export function isRepositoryName(text: string): text is RepositoryName {
  return REPOSITORY_NAME.test(text)
}

export function repositoryName(text: string): RepositoryName {
  if (isRepositoryName(text)) return text
  throw badId(
    'base/bad-repository-name',
    text,
    'a repository name must have 3 to 63 lower-case letters, digits and "-"',
  )
}

function badId(code: ErrorCode, text: string, rule: string): InvalidError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  const what = code.slice('base/bad-'.length).replaceAll('-', ' ')
  return new InvalidError(code, `read ${JSON.stringify(shown)} as a ${what}: ${rule}`)
}
