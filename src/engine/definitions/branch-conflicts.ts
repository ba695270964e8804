/**
 * Which executions that have not ended may write a branch that a new one may write as well. If two do, the publish fence refuses
 * the later publication; this is noticed before the start.
 *
 * - An execution is assumed to write every branch that its input names, at any depth, and those that its graph names itself.
 * - It does not count if none of its units can write.
 * - An execution and those that it runs as units count as one.
 */

import { RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { targetsIn, type BranchTarget } from '../../tasks/branch-targets.ts'
import { walkUnits, type Graph } from '../graph/graph.ts'
import { mayGraphWrite, type KnownTasks } from './graph-writers.ts'
import { followRest, replaceReferences } from './references.ts'

/** An execution that has not ended. */
export interface OpenGraph {
  readonly executionId: string
  /** The execution that runs it as a unit. */
  readonly parentId?: string | undefined
  readonly graph: Graph
  readonly input: JsonObject
}

export interface GraphStart {
  readonly graph: Graph
  readonly input: JsonObject
  readonly parentId?: string | undefined
}

export interface BranchConflict extends BranchTarget {
  readonly executionId: string
  /** Of its definition. */
  readonly name: string
}

/** In the order of `open`. */
export function findBranchConflicts(
  start: GraphStart,
  open: readonly OpenGraph[],
  tasks: KnownTasks = new Map(),
): readonly BranchConflict[] {
  const own = writtenBranches(start, tasks)
  if (own.length === 0) return []
  const byId = new Map(open.map((one) => [one.executionId, one]))
  const ownRoot = start.parentId === undefined ? undefined : rootOf(start.parentId, byId)
  return open
    .filter(({ executionId }) => rootOf(executionId, byId) !== ownRoot)
    .flatMap((other) =>
      writtenBranches(other, tasks)
        .filter((target) => own.some((each) => isSame(each, target)))
        .map((target) => ({ executionId: other.executionId, name: other.graph.name, ...target })),
    )
}

/** Throws `engine/branch-taken` if another execution may write a branch that this one may write. */
export function requireFreeBranches(start: GraphStart, open: readonly OpenGraph[], tasks?: KnownTasks): void {
  const conflicts = findBranchConflicts(start, open, tasks)
  const [first] = conflicts
  if (first === undefined) return
  const others = [...new Set(conflicts.map(({ executionId, name }) => `${executionId} ("${name}")`))]
  throw new RefusedError(
    'engine/branch-taken',
    `start "${start.graph.name}" on branch "${first.branch}" of "${first.repository}": execution ${others.join(', ')} has not ended and may write it`,
    {
      details: { conflicts },
      next: 'Wait until it has ended, or cancel it; then start again from the head of the branch.',
    },
  )
}

interface Written {
  readonly graph: Graph
  readonly tasks: KnownTasks
  readonly targets: readonly BranchTarget[]
}

/** Every start asks about every open execution; graph and input of one never change. */
const known = new WeakMap<JsonObject, Written>()

function writtenBranches({ graph, input }: GraphStart, tasks: KnownTasks): readonly BranchTarget[] {
  const before = known.get(input)
  if (before?.graph === graph && before.tasks === tasks) return before.targets
  const targets = findWritten({ graph, input }, tasks)
  known.set(input, { graph, tasks, targets })
  return targets
}

function findWritten({ graph, input }: GraphStart, tasks: KnownTasks): readonly BranchTarget[] {
  if (!mayGraphWrite(graph, tasks)) return []
  const given: JsonObject = { ...graph.inputTemplate, ...input }
  const inUnits = walkUnits(graph.units).flatMap(({ inputParameters }) =>
    targetsIn(fillInputs(inputParameters, given) as JsonObject),
  )
  // What is still an expression comes from a unit, and that from the input.
  const all = [
    ...targetsIn(given),
    ...inUnits.filter(({ repository, branch }) => !/\$\{/.test(repository + branch)),
  ]
  return all.filter((target, index) => all.findIndex((other) => isSame(other, target)) === index)
}

function fillInputs(value: Json, input: JsonObject): Json {
  return replaceReferences(value, ({ root, rest }) => {
    const [matched = '', name = ''] = (root === 'workflow' && /^\.input\.([\w-]+)/.exec(rest)) || []
    const given = input[name]
    const found = given === undefined ? undefined : followRest(given, rest.slice(matched.length))
    return found === undefined ? undefined : { by: 'value', value: found }
  })
}

function isSame(one: BranchTarget, other: BranchTarget): boolean {
  return one.repository === other.repository && one.branch === other.branch
}

/** The outermost execution that runs it. */
function rootOf(executionId: string, byId: ReadonlyMap<string, OpenGraph>): string {
  let root = executionId
  // No chain is longer than the number of executions, even if there were a circle.
  for (let step = 0; step <= byId.size; step += 1) {
    const parentId = byId.get(root)?.parentId
    if (parentId === undefined) return root
    root = parentId
  }
  return root
}
