/** `definePipeline`: a pipeline in TypeScript, in which the outputs of a unit type the inputs of the next. */

import { z } from 'zod'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { compileDocument } from './compile-document.ts'
import type { InputDocument, PipelineDocument, PolicyDocument, ScheduleDocument } from './document.ts'
import { PipelineBuilder } from './pipeline-builder.ts'
import { PIPELINE, type PipelineDefinition } from './pipeline-definition.ts'
import { printPath } from './shape.ts'
import { writeReferences, type Resolved } from './typed-reference.ts'
import { UnitCollection } from './unit-collection.ts'
import { isObject } from './values.ts'

export interface PipelineSettings<Input extends z.ZodType> {
  readonly name: string
  /** Default: 1. */
  readonly version?: number
  readonly description?: string
  /** E-mail address of the person or team responsible. */
  readonly owner?: string
  /** An object schema; its defaults are used where an input is not given. */
  readonly input: Input
  readonly timeout?: string
  readonly onTimeout?: 'end' | 'alert'
  readonly restartable?: boolean
  readonly policy?: PolicySettings
  readonly schedules?: Readonly<Record<string, ScheduleDocument>>
}

/** What follows a failure, and what is checked before the end. Default: it fails; nothing is checked. */
export interface PolicySettings extends Omit<PolicyDocument, 'verify'> {
  readonly verify?:
    { readonly task: TaskDefinition | string; readonly input?: JsonObject } | { readonly condition: string }
}

/** A schema for the input of a pipeline that works on a branch. */
export const workspaceInput = z.object({
  /** The name of the repository in lakeFS. */
  repository: z.string().min(1),
  /** The branch that the tasks publish to. */
  branch: z.string().min(1),
  /** Always `commit`: a branch may move between two attempts. */
  refType: z.literal('commit'),
  /** The commit to begin with: its full id of 64 lower-case hexadecimal digits. */
  ref: z.string().min(1),
})

/**
 * Declares a pipeline. Throws, with all problems at once, for names used twice, cycles, conditions that cannot be read, and
 * two units that may write one branch at the same time.
 *
 * ```ts
 * export const daily = definePipeline(
 *   { name: 'orders.daily', input: z.object({ workspace: workspaceInput, day: z.iso.date() }) },
 *   (pipeline) => {
 *     const { workspace, day } = pipeline.input
 *     const ingested = pipeline.task('ingest', ingest, { workspace, params: { day } })
 *     const checked = pipeline.task('validate', validate, { workspace: ingested.workspace, params: { day } })
 *     return { workspace: checked.workspace, rejected: checked.result.rejected }
 *   },
 * )
 * ```
 */
export function definePipeline<
  Input extends z.ZodType,
  const Output extends Readonly<Record<string, unknown>> | undefined = undefined,
>(
  settings: PipelineSettings<Input>,
  build: (pipeline: PipelineBuilder<z.output<Input>>) => Output,
): PipelineDefinition<z.input<Input>, Resolved<Output>> {
  const collection = new UnitCollection()
  let output: Output | undefined
  const units = collection.inside(() => {
    output = build(new PipelineBuilder<z.output<Input>>(collection))
  })
  const { input, version = 1, policy, ...rest } = settings
  const document: PipelineDocument = {
    ...defined(rest),
    version,
    input: readInputs(input),
    units,
    ...(policy === undefined ? {} : { policy: writePolicy(policy, collection) }),
    ...(output === undefined ? {} : { output: writeReferences(output) as JsonObject }),
  }
  const { graph, problems } = compileDocument(document, collection.tasks)
  const all = [
    ...collection.problems,
    ...problems.map(({ path, message }) => `${path.length === 0 ? '' : `${printPath(path)}: `}${message}`),
  ]
  if (graph === undefined || all.length > 0) throw invalid(settings.name, all)
  return {
    [PIPELINE]: true,
    ...{ name: settings.name, version, document, graph, input: input as z.ZodType<unknown, z.input<Input>> },
    tasks: [...collection.tasks.values()],
    children: [...collection.children.values()],
  }
}

function writePolicy({ verify, ...rest }: PolicySettings, collection: UnitCollection): PolicyDocument {
  if (verify === undefined) return rest
  if ('condition' in verify) return { ...rest, verify }
  const { task, input } = verify
  if (typeof task !== 'string') collection.noteTask(task)
  return { ...rest, verify: { task: typeof task === 'string' ? task : task.name, ...defined({ input }) } }
}

/** The names of the inputs, with the defaults of the schema. */
function readInputs(schema: z.ZodType): Readonly<Record<string, InputDocument>> {
  const described: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties ?? {}
  return Object.fromEntries(
    Object.entries(isObject(described) ? described : {}).map(([name, property]) => {
      const { default: value, description } = isObject(property) ? property : {}
      return [name, defined({ default: value, description }) as InputDocument]
    }),
  )
}

function invalid(name: string, problems: readonly string[]): InvalidError {
  return new InvalidError(
    'engine/invalid-pipeline',
    `declare pipeline ${JSON.stringify(name)}: ${problems.join('; ')}`,
    { details: { problems }, next: 'Correct what is listed.' },
  )
}
