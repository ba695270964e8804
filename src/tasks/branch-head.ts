/** A task that comes with perago: it reads where a branch stands, so that a workflow with a fixed input can work on it. */

import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import { defineTask, type TaskDefinition } from './task-definition.ts'

const BRANCH_HEAD = 'perago.branch_head'

const PLACE = z.object({ repository: z.string(), branch: z.string() })
const WORKSPACE = PLACE.extend({ refType: z.literal('commit'), ref: z.string() })

export type BranchHeadTask = TaskDefinition<typeof PLACE, typeof WORKSPACE, undefined>

/** Answers the head of a branch. */
export type ReadHead = (place: z.output<typeof PLACE>, signal: AbortSignal) => Promise<string>

/** The task, over what reads the head. */
export function branchHeadOver(readHead: ReadHead): BranchHeadTask {
  return defineTask({
    name: BRANCH_HEAD,
    description: 'Reads the head of a branch: the workspace of the steps that follow.',
    owner: 'perago@example.org',
    params: PLACE,
    result: WORKSPACE,
    body: async ({ params: { repository, branch }, signal }) => ({
      ...{ repository, branch, refType: 'commit' as const },
      ref: await readHead({ repository, branch }, signal),
    }),
  })
}

/**
 * Reads the head of a branch. Every worker of perago can run it: one whose module exports it, or has a workflow or a pipeline with it.
 *
 * ```ts
 * export const nightly = defineWorkflow({
 *   name: 'orders.nightly',
 *   owner: 'data@example.org',
 *   steps: [
 *     { task: branchHead, taskReferenceName: 'head', inputParameters: { params: { repository: 'lake', branch: 'main' } } },
 *     { task: clean, taskReferenceName: 'clean', inputParameters: { workspace: '${head.output.result}', params: {} } },
 *   ],
 * })
 * ```
 */
export const branchHead: BranchHeadTask = branchHeadOver(() => {
  throw new InvalidError('worker/no-lakefs', `run task "${BRANCH_HEAD}": nothing here reads branches`, {
    next: 'Run it by a worker of perago.',
  })
})

/** Whether this is the task that comes with perago, from any copy of the package. */
export function isBranchHead({ name }: Pick<TaskDefinition, 'name'>): boolean {
  return name === BRANCH_HEAD
}

/** Whether a definition, of any kind, names that task. */
export function namesBranchHead(definition: unknown): boolean {
  return JSON.stringify(definition).includes(JSON.stringify(BRANCH_HEAD))
}
