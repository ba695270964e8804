/** Testing pipelines with children: a child without its parent, a parent without its child. */

import type { Json } from '../base/json.ts'
import type { Core } from '../core/life-cycle/core.ts'
import type { Execution } from '../core/life-cycle/execution.ts'
import type { StartRequest } from '../core/life-cycle/start-execution.ts'
import { runBody, type SubPipelineBody, type SuppliedOutputs } from '../core/life-cycle/sub-pipeline.ts'

export interface AloneRun {
  readonly execution: Execution
  readonly outputs: Readonly<Record<string, Json>>
}

/**
 * Runs a child pipeline without a parent. Rejects with the error of the body; its execution is then recorded as failed.
 *
 * ```ts
 * const { outputs } = await runPipelineAlone(core, { name: 'processing', inputs: { input_file: 'a.csv' } }, processing)
 * ```
 */
export async function runPipelineAlone(
  core: Core,
  request: Omit<StartRequest, 'parent'>,
  body: SubPipelineBody,
): Promise<AloneRun> {
  const execution = await core.startExecution(request)
  return { execution, outputs: await runBody(execution, body) }
}

/** Outputs instead of a child: `runSubPipeline` then starts none. */
export function mockOutputs(outputs: Readonly<Record<string, Json>>): SuppliedOutputs {
  return { suppliedOutputs: outputs }
}
