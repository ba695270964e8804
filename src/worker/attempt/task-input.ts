/** The contract of a task's input and output, shared with workers in other languages. */

import {
  branchName,
  commitRef,
  repositoryName,
  type BranchName,
  type CommitRef,
  type RepositoryName,
} from '../../base/ids.ts'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'

/** Which commit to lay out, and which branch may be advanced. */
export interface WorkspaceRef {
  readonly repository: RepositoryName
  readonly branch: BranchName
  readonly ref: CommitRef
  /** The output answers in the spelling the input used. */
  readonly spelling: 'refType' | 'ref_type'
}

export interface TaskInput {
  readonly workspace: WorkspaceRef | undefined
  readonly params: Json
}

/**
 * Reads `{workspace: {repository, branch, refType: "commit", ref}, params}`. Other top-level fields are left alone:
 * workflow definitions may pass more along. Every problem is named at once.
 */
export function readTaskInput(input: JsonObject, wants: { readonly workspace: boolean }): TaskInput {
  const problems: string[] = []
  if (!('params' in input)) problems.push('params: missing')
  const workspace = wants.workspace ? readWorkspaceRef(input['workspace'], problems) : undefined
  if (problems.length > 0) {
    throw new InvalidError('worker/invalid-input', `read the task's input: ${problems.join('; ')}`, {
      details: { problems },
      next: 'Correct inputParameters in the workflow definition, then start or rerun the workflow.',
    })
  }
  return { workspace, params: input['params'] ?? null }
}

/** What goes back for a completed task: the same workspace at its new commit, and the result. */
export function renderTaskOutput(output: {
  readonly workspace: WorkspaceRef | undefined
  readonly result: Json
}): JsonObject {
  if (output.workspace === undefined) return { result: output.result }
  const { repository, branch, ref, spelling } = output.workspace
  return { workspace: { repository, branch, [spelling]: 'commit', ref }, result: output.result }
}

const KNOWN_FIELDS = new Set(['repository', 'branch', 'ref', 'refType', 'ref_type'])

function readWorkspaceRef(value: Json | undefined, problems: string[]): WorkspaceRef | undefined {
  if (value === undefined) {
    problems.push('workspace: missing')
    return undefined
  }
  if (!isObject(value)) {
    problems.push('workspace: wanted an object')
    return undefined
  }
  const before = problems.length
  for (const field of Object.keys(value)) {
    if (!KNOWN_FIELDS.has(field)) problems.push(`workspace.${field}: unknown field`)
  }
  const spelling = 'refType' in value ? 'refType' : 'ref_type' in value ? 'ref_type' : undefined
  if (spelling === undefined) problems.push('workspace.refType: missing')
  else if ('refType' in value && 'ref_type' in value)
    problems.push('workspace: refType and ref_type are both given')
  else if (value[spelling] !== 'commit') problems.push(`workspace.${spelling}: wanted "commit"`)

  const repository = readText(value, 'repository', repositoryName, problems)
  const branch = readText(value, 'branch', branchName, problems)
  const ref = readText(value, 'ref', commitRef, problems)
  if (problems.length > before || !repository || !branch || !ref || !spelling) return undefined
  return { repository, branch, ref, spelling }
}

function readText<T>(
  value: JsonObject,
  field: string,
  read: (text: string) => T,
  problems: string[],
): T | undefined {
  const text = value[field]
  if (typeof text !== 'string') {
    problems.push(`workspace.${field}: ${text === undefined ? 'missing' : 'wanted text'}`)
    return undefined
  }
  try {
    return read(text)
  } catch (error) {
    if (!isPeragoError(error)) throw error
    problems.push(`workspace.${field}: ${error.message}`)
    return undefined
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
