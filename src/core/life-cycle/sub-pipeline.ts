/**
 * A node that runs a child execution. The child gets copies of the bound inputs and returns copies of the declared outputs;
 * neither side can read anything else of the other. Children may have children.
 */

import { MissingError, RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { ExecutionId } from '../keys.ts'
import { checkName, checkNodeId } from '../namespaces/names.ts'
import type { Core } from './core.ts'
import { describeFailure } from './describe-failure.ts'
import { underPrefix, type Execution } from './execution.ts'

export interface SubPipelineSpec {
  /** The node of the parent. */
  readonly node: string
  /** The pipeline that runs as the child. */
  readonly name: string
  /** Version of that pipeline, recorded with the child; none unless given. */
  readonly version?: string
  /** Input of the child → template over the parent's variables, such as `{{ prepare.path }}`. */
  readonly inputBindings?: Readonly<Record<string, Json>>
  /** Outputs of the child that the parent stores as `NODE.NAME`. */
  readonly outputVariables?: readonly string[]
}

/** Runs the child. The returned values become outputs, in addition to those it has set. */
export type SubPipelineBody = (child: Execution) => Promise<Readonly<Record<string, Json>> | undefined>

/** Outputs instead of a child: no child is started. For tests of the parent. */
export interface SuppliedOutputs {
  readonly suppliedOutputs: Readonly<Record<string, Json>>
}

export type SubPipelineResult =
  | {
      readonly status: 'completed'
      /** `undefined` where outputs were supplied instead. */
      readonly child: ExecutionId | undefined
      readonly outputs: Readonly<Record<string, Json>>
    }
  | { readonly status: 'failed'; readonly child: ExecutionId | undefined; readonly error: unknown }

/**
 * Runs a child for a node and records events of the node: `NODE.started`, then `NODE.completed` together with the outputs,
 * or `NODE.failed`. Throws only where an event could not be recorded.
 */
export async function runSubPipeline(
  core: Core,
  parent: Execution,
  spec: SubPipelineSpec,
  body: SubPipelineBody | SuppliedOutputs,
): Promise<SubPipelineResult> {
  const node = checkNodeId(spec.node)
  const wanted = (spec.outputVariables ?? []).map((name) => checkName(name, 'name of an output'))
  const source = { entityType: 'node', entityId: node } as const
  await parent.events.publish({ type: `${node}.started`, source })
  const made: { child?: Execution } = {}
  let outputs: Readonly<Record<string, Json>>
  try {
    const found =
      typeof body === 'function' ? await runChild(core, parent, spec, body, made) : body.suppliedOutputs
    outputs = pickOutputs(found, wanted, spec.name)
  } catch (error) {
    const payload: JsonObject = { error: describeFailure(error) }
    await parent.events.publish({ type: `${node}.failed`, source, payload })
    return { status: 'failed', child: made.child?.id, error }
  }
  // Outside the try: a node whose completion may be recorded must not be recorded as failed.
  await parent.events.publish(
    { type: `${node}.completed`, source },
    { variables: underPrefix(node, outputs) },
  )
  return { status: 'completed', child: made.child?.id, outputs }
}

async function runChild(
  core: Core,
  parent: Execution,
  { node, name, version, inputBindings = {} }: SubPipelineSpec,
  body: SubPipelineBody,
  made: { child?: Execution },
): Promise<Readonly<Record<string, Json>>> {
  // Before the child exists: a binding to a variable that is not set starts no child.
  const inputs = (await parent.variables.resolve(inputBindings)) as Readonly<Record<string, Json>>
  const child = await core.startExecution({
    name,
    ...(version === undefined ? {} : { version }),
    inputs,
    parent: { execution: parent.id, node },
  })
  made.child = child
  return runBody(child, body)
}

/** Runs an execution to its end. Returns its outputs by their short names; rejects with what the body threw. */
export async function runBody(
  execution: Execution,
  body: SubPipelineBody,
): Promise<Readonly<Record<string, Json>>> {
  try {
    const outputs = await body(execution)
    // The body may have ended its execution.
    if ((await execution.readState()).status === 'running') {
      await execution.finish({ status: 'completed', ...(outputs === undefined ? {} : { outputs }) })
    }
  } catch (error) {
    if ((await execution.readState()).status === 'running')
      await execution.finish({ status: 'failed', error })
    throw error
  }
  const { status } = await execution.readState()
  if (status !== 'completed') throw didNotComplete(execution.name, status)
  return readOutputs(execution)
}

async function readOutputs(child: Execution): Promise<Readonly<Record<string, Json>>> {
  const prefix = 'pipeline.output.'
  const found = await child.variables.list('pipeline.output')
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name.slice(prefix.length), value]))
}

function pickOutputs(
  found: Readonly<Record<string, Json>>,
  wanted: readonly string[],
  pipeline: string,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    wanted.map((name) => {
      const value = Object.hasOwn(found, name) ? found[name] : undefined
      if (value !== undefined) return [name, value]
      throw new MissingError(
        'core/missing-output',
        `take output "${name}" of pipeline "${pipeline}": it is not set`,
        { next: `Set "pipeline.output.${name}" in the pipeline, or remove it from outputVariables.` },
      )
    }),
  )
}

function didNotComplete(pipeline: string, status: string): RefusedError {
  return new RefusedError('core/not-completed', `run pipeline "${pipeline}": it is ${status}`, {
    next: 'Check the events of its execution.',
  })
}
