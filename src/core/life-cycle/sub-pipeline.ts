/**
 * A node that stands for a child execution. Values cross as copies: what the bindings name goes in, the declared outputs come
 * out; neither side reads anything else of the other. Children have children of their own in the same way.
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
  readonly version?: string
  /** Input of the child → template over the parent's variables, such as `{{ prepare.path }}`. */
  readonly inputBindings?: Readonly<Record<string, Json>>
  /** Outputs of the child that the parent gets, as `NODE.NAME`. */
  readonly outputVariables?: readonly string[]
}

/** Runs the child. What it returns becomes its outputs, beside those it has set itself. */
export type SubPipelineBody = (child: Execution) => Promise<Readonly<Record<string, Json>> | undefined>

/** Outputs in a child's place: no child is started. For tests of the parent. */
export interface SuppliedOutputs {
  readonly suppliedOutputs: Readonly<Record<string, Json>>
}

export type SubPipelineResult =
  | {
      readonly status: 'completed'
      /** `undefined` where outputs were supplied in its place. */
      readonly child: ExecutionId | undefined
      readonly outputs: Readonly<Record<string, Json>>
    }
  | { readonly status: 'failed'; readonly child: ExecutionId | undefined; readonly error: unknown }

/**
 * Runs a child for a node and records what becomes of the node: `NODE.started`, then `NODE.completed` together with its
 * outputs, or `NODE.failed` without any. Throws only where that could not be recorded.
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
  // Outside the catch above: a node whose completion may have been recorded is never recorded as failed.
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
  // Before there is a child: a binding that names what is not set starts none.
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

/** Runs an execution from its first to its last event; its outputs, by their short names. Rejects with what the body threw. */
export async function runBody(
  execution: Execution,
  body: SubPipelineBody,
): Promise<Readonly<Record<string, Json>>> {
  try {
    const outputs = await body(execution)
    // A body may end its execution itself, as an engine does.
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
        { next: `Let the pipeline set "pipeline.output.${name}", or take it off outputVariables.` },
      )
    }),
  )
}

function didNotComplete(pipeline: string, status: string): RefusedError {
  return new RefusedError('core/not-completed', `run pipeline "${pipeline}": it is ${status}`, {
    next: 'Look at the events of its execution.',
  })
}
