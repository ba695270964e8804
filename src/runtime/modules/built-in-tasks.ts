/** The tasks that come with perago, for the modules that use them. */

import { isPipelineDefinition } from '../../engine/definitions/pipeline-definition.ts'
import { branchHead, isBranchHead, namesBranchHead } from '../../tasks/branch-head.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { loadModule, type LoadedModule } from '../../worker/bodies/load-tasks.ts'
import { declaredTaskDef } from './task-registration.ts'

/** A module, with the built-in tasks that its workflows and pipelines name, whether it exports them or not. */
export async function loadWithBuiltIns(
  path: string,
  options: { readonly workflowsAlone?: boolean } = {},
): Promise<LoadedModule> {
  const loaded = await loadModule(path, options)
  const { workflows, exported } = loaded
  const isUsed =
    workflows.some(({ document }) => namesBranchHead(document.tasks)) ||
    Object.values(exported).some((each) => isPipelineDefinition(each) && namesBranchHead(each.graph.units))
  return isUsed ? { ...loaded, tasks: withBranchHead(loaded.tasks) } : loaded
}

export function withBranchHead(tasks: readonly TaskDefinition[]): readonly TaskDefinition[] {
  return tasks.some(isBranchHead) ? tasks : [...tasks, branchHead]
}

/** The same, of definitions. */
export function withBranchHeadDef<Definition extends { readonly name: string }>(
  definitions: readonly Definition[],
): readonly Definition[] {
  return definitions.some(isBranchHead)
    ? definitions
    : [...definitions, declaredTaskDef(branchHead) as unknown as Definition]
}
