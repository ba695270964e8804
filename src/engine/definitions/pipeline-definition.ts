/** A pipeline that was checked. */

import type { z } from 'zod'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { Graph } from '../graph/graph.ts'
import type { PipelineDocument } from './document.ts'

export const PIPELINE = Symbol.for('perago.pipeline')

/** A checked pipeline. */
export interface PipelineDefinition<Input = unknown, Output = unknown> {
  /** Marks a declared pipeline; see `isPipelineDefinition`. */
  readonly [PIPELINE]: true
  /** Under which it is registered and started: letters, digits, `_`, `-` and `.`, at most 200. */
  readonly name: string
  /** A whole number from 1. */
  readonly version: number
  /** The same as a YAML file would have it. */
  readonly document: PipelineDocument
  /** What the engine runs: the document, compiled. */
  readonly graph: Graph
  /** The declared tasks that it runs. */
  readonly tasks: readonly TaskDefinition[]
  /** The pipelines that it runs. */
  readonly children: readonly PipelineDefinition[]
  /** The schema that was declared for its input. */
  readonly input: z.ZodType<unknown, Input>
  /** Only a type: nothing is there. */
  readonly output?: Output
}

/** True for a declared pipeline, from any copy of the package. */
export function isPipelineDefinition(value: unknown): value is PipelineDefinition {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[PIPELINE] === true
}
