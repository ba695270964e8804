/** The format of a task's input and output, shared with workers in other languages. */

import {
  branchName,
  isBranchName,
  isCommitRef,
  isRepositoryName,
  repositoryName,
  type BranchName,
  type CommitRef,
  type RepositoryName,
} from '../../base/ids.ts'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { shortened } from '../../base/one-line.ts'

/** Which commit to lay out, and which branch may be advanced. */
export interface WorkspaceRef {
  readonly repository: RepositoryName
  readonly branch: BranchName
  readonly ref: CommitRef
  /** Of the field in the input; the output uses the same. */
  readonly spelling: 'refType' | 'ref_type'
}

export interface TaskInput {
  readonly workspace: WorkspaceRef | undefined
  readonly params: Json
}

/**
 * Reads `{workspace: {repository, branch, refType: "commit", ref}, params}`. Other top-level fields are ignored: workflow
 * definitions may pass more. Every problem is named at once.
 */
export function readTaskInput(input: JsonObject, wants: { readonly workspace: boolean }): TaskInput {
  const problems: string[] = []
  if (!('params' in input)) problems.push('params: missing')
  const workspace = wants.workspace ? readWorkspaceRef(input['workspace'], problems) : undefined
  if (problems.length > 0) {
    const next = wants.workspace ? howToNameCommit(input['workspace']) : undefined
    throw new InvalidError('worker/invalid-input', `read the task's input: ${problems.join('; ')}`, {
      details: { problems },
      next: next ?? 'Correct inputParameters in the workflow definition, then start or rerun the workflow.',
    })
  }
  return { workspace, params: input['params'] ?? null }
}

/** The output of a completed task: the same workspace at its new commit, and the result. */
export function renderTaskOutput(output: {
  readonly workspace: WorkspaceRef | undefined
  readonly result: Json
}): JsonObject {
  if (output.workspace === undefined) return { result: output.result }
  const { repository, branch, ref, spelling } = output.workspace
  return { workspace: { repository, branch, [spelling]: 'commit', ref }, result: output.result }
}

function describeRefType(spelling: string, given: Json | undefined): string {
  const wanted = `workspace.${spelling}: must be "commit"`
  return typeof given === 'string' ? `${wanted}, not ${JSON.stringify(shortened(given, 80))}` : wanted
}

/** A branch moves between two attempts, so what a task reads is named by nothing but a commit. */
function readRef(text: string): CommitRef {
  if (isCommitRef(text)) return text
  const what = /^[0-9a-f]{4,63}$/.test(text) ? 'only a part of a commit id' : 'not a commit id'
  throw new InvalidError(
    'base/bad-commit-ref',
    `${JSON.stringify(shortened(text, 80))} is ${what}, which has 64 lower-case hexadecimal digits`,
  )
}

/** The commands that give the id, where the input has another name of a commit in its place. */
function howToNameCommit(workspace: Json | undefined): string | undefined {
  if (typeof workspace !== 'object' || workspace === null) return undefined
  const { repository, branch, ref = branch } = workspace as JsonObject
  if (typeof ref !== 'string' || isCommitRef(ref) || !/^(?!\.+$)[\w.~^@-]+$/.test(ref)) return undefined
  if (typeof repository !== 'string' || typeof branch !== 'string') return undefined
  if (!isRepositoryName(repository) || !isBranchName(branch)) return undefined
  const named = ref === branch ? '' : ` --ref ${ref}`
  return (
    `Start the workflow with the commit: "perago run WORKFLOW --repo ${repository} --branch ${branch}${named}" reads ` +
    `its id and passes it on; "lakectl show commit lakefs://${repository}/${ref}" shows it.`
  )
}

const KNOWN_FIELDS = new Set(['repository', 'branch', 'ref', 'refType', 'ref_type'])

function readWorkspaceRef(value: Json | undefined, problems: string[]): WorkspaceRef | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(`workspace: ${value === undefined ? 'missing' : 'must be an object'}`)
    return undefined
  }
  const workspace = value as JsonObject
  const read = <T>(field: string, parse: (text: string) => T): T | undefined => {
    const text = workspace[field]
    try {
      if (typeof text === 'string') return parse(text)
      problems.push(`workspace.${field}: ${text === undefined ? 'missing' : 'must be a string'}`)
    } catch (error) {
      if (!isPeragoError(error)) throw error
      problems.push(`workspace.${field}: ${error.message}`)
    }
    return undefined
  }
  for (const field of Object.keys(workspace))
    if (!KNOWN_FIELDS.has(field)) problems.push(`workspace.${field}: unknown field`)
  const spelling = 'ref_type' in workspace ? 'ref_type' : 'refType'
  if ('refType' in workspace && 'ref_type' in workspace)
    problems.push('workspace: refType and ref_type are both given')
  else if (workspace[spelling] !== 'commit') problems.push(describeRefType(spelling, workspace[spelling]))
  const repository = read('repository', repositoryName)
  const branch = read('branch', branchName)
  const ref = read('ref', readRef)
  // Where there were other problems, the caller throws.
  return repository && branch && ref && { repository, branch, ref, spelling }
}
