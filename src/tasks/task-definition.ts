/**
 * What a task author declares: a name, schemas of parameters and result, the part of the repository, and the body. The types
 * of the body follow from the schemas.
 */

import type { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { Guardrail } from './guardrails.ts'
import { judgeCommitSpec, type CommitSpec } from './commit-spec.ts'
import { unknownKeys } from './known-keys.ts'
import type { WorkspaceSpec } from './workspace-spec.ts'
import { DEFAULT_CONTROLS, readControls, type TaskControls, type TaskControlsInput } from './task-controls.ts'

/** Where a body runs. With `inline`, a body that blocks the event loop also blocks the worker. */
export type BodyPlace = 'inline' | 'thread' | 'process'

/** The running attempt; informative. */
export interface AttemptInfo {
  readonly taskId: string
  readonly workflowId: string
  readonly taskName: string
  readonly referenceName: string
  readonly retryCount: number
  readonly iteration: number
}

export interface BodyContext<Params> {
  readonly params: Params
  /** Aborted when the attempt is lost, its workflow ended, or the deadline of a shutdown passed. */
  readonly signal: AbortSignal
  /** Aborted when the worker is asked to stop: finish soon. */
  readonly shutdown: AbortSignal
  readonly log: Logger
  /** Says how far the body is: in the task's log, in metrics, and on the terminal of `perago run`. May be called often. */
  readonly progress: (done: number, total?: number, what?: string) => void
  readonly attempt: AttemptInfo
}

export interface BodyWorkspace {
  /** The directory with the input; after the body its content is published. */
  readonly dir: string
  /** An absolute path inside the directory; throws for one outside. */
  path(...segments: readonly string[]): string
  readonly repository: string
  readonly branch: string
  /** The commit of the input. */
  readonly ref: string
  readonly isReadOnly: boolean
}

export interface WorkspaceBodyContext<Params> extends BodyContext<Params> {
  readonly workspace: BodyWorkspace
}

/** The workspace of a task, and its guardrails. */
export interface TaskWorkspaceSpec extends WorkspaceSpec {
  /** Publishes nothing; changing a file is an error. */
  readonly readOnly?: boolean
  /** Checked before the body: a failure means that the input is wrong, so there is no retry. */
  readonly pre?: readonly Guardrail[]
  /** Checked after the body: nothing is published unless all hold. */
  readonly post?: readonly Guardrail[]
}

interface Described<Params extends z.ZodType, Result extends z.ZodType> {
  /** The task type: letters, digits, `_`, `-` and `.`. */
  readonly name: string
  /** What it does, for people; becomes part of its task definition on the server. */
  readonly description?: string
  /** E-mail address of the person or team responsible for this task. */
  readonly owner: string
  /** A Zod schema that can be written as JSON Schema. The body gets what it has parsed. */
  readonly params: Params
  /** A Zod schema that can be written as JSON Schema. A result that does not match it fails the attempt. */
  readonly result: Result
  /** How it is retried, limited and published; each setting that is left out has its default. */
  readonly controls?: TaskControlsInput
}

type Awaitable<T> = T | Promise<T>

export interface WorkspaceTaskInput<Params extends z.ZodType, Result extends z.ZodType> extends Described<
  Params,
  Result
> {
  /** Default: all of the branch, unchecked. */
  readonly workspace?: TaskWorkspaceSpec
  /** Message and metadata of the commit that is published. */
  readonly commit?: CommitSpec<z.output<Params>, z.output<Result>>
  /** Where the body runs; `inline`, on the thread of the worker, unless given. */
  readonly runIn?: BodyPlace
  body(context: WorkspaceBodyContext<z.output<Params>>): Awaitable<z.input<Result>>
}

export interface PlainTaskInput<Params extends z.ZodType, Result extends z.ZodType> extends Described<
  Params,
  Result
> {
  /** Where the body runs; `inline`, on the thread of the worker, unless given. */
  readonly runIn?: BodyPlace
  body(context: BodyContext<z.output<Params>>): Awaitable<z.input<Result>>
}

/** A program as a body: parameters on stdin and in `PERAGO_PARAMS`, the result from a file or from stdout. */
export interface CommandSpec {
  /** The program and its arguments, such as `['python', 'etl.py']`; started without a shell. */
  readonly command: readonly [string, ...string[]]
  /** Added to the program's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Where the result is read from: the JSON file named by `PERAGO_RESULT_FILE`, or all of stdout. */
  readonly resultFrom?: 'file' | 'stdout'
}

export interface CommandTaskInput<
  Params extends z.ZodType,
  Result extends z.ZodType,
  Workspace extends TaskWorkspaceSpec | undefined = TaskWorkspaceSpec | undefined,
>
  extends Described<Params, Result>, CommandSpec {
  /** The files it works on, in which the program starts. Without it the task has no workspace. */
  readonly workspace?: Workspace
  /** Message and metadata of the commit that is published. */
  readonly commit?: CommitSpec<z.output<Params>, z.output<Result>>
}

/** The context of a body without its parameters. */
export interface RawBodyContext extends Omit<BodyContext<unknown>, 'params'> {
  readonly workspace: BodyWorkspace | undefined
}

export type TaskBody =
  | {
      readonly kind: 'function'
      readonly runIn: BodyPlace
      /** Reads the parameters, runs the body, reads the result. */
      invoke(params: unknown, context: RawBodyContext): Promise<unknown>
    }
  | { readonly kind: 'command'; readonly command: Required<CommandSpec> }

const TASK = Symbol.for('perago.task')

/** A checked task; its type knows its schemas and whether it has a workspace. */
export interface TaskDefinition<
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  Workspace extends TaskWorkspaceSpec | undefined = TaskWorkspaceSpec | undefined,
> {
  /** Marks a declared task, from any copy of the package. */
  readonly [TASK]: true
  /** The task type that workers poll. */
  readonly name: string
  /** What it does, for people. */
  readonly description: string | undefined
  /** E-mail address of the person or team responsible for it. */
  readonly owner: string
  /** The Zod schema of its parameters. */
  readonly params: Params
  /** The Zod schema of its result. */
  readonly result: Result
  /** The files it works on, and its guardrails; `undefined` for a task without files. */
  readonly workspace: Workspace
  /** Message and metadata of the commit that is published; those of perago alone unless given. */
  readonly commit?: CommitSpec | undefined
  /** How it is retried, limited and published, with the defaults of what was left out. */
  readonly controls: TaskControls
  /** What does the work: a function or a program. */
  readonly body: TaskBody
}

/**
 * Declares a task that works on files and publishes what it changed.
 *
 * ```ts
 * export const clean = defineWorkspaceTask({
 *   name: 'orders.clean',
 *   owner: 'data@example.org',
 *   params: z.object({ day: z.iso.date() }),
 *   result: z.object({ rows: z.int() }),
 *   workspace: { prefix: 'orders', post: [requireFile('clean.csv')] },
 *   body: async ({ workspace, params }) => ({ rows: await cleanDay(workspace.dir, params.day) }),
 * })
 * ```
 */
export function defineWorkspaceTask<Params extends z.ZodType, Result extends z.ZodType>(
  input: WorkspaceTaskInput<Params, Result>,
): TaskDefinition<Params, Result, TaskWorkspaceSpec> {
  return {
    ...describe(input, ['workspace', 'commit', 'runIn', 'body']),
    workspace: input.workspace ?? {},
    commit: input.commit as CommitSpec | undefined,
    body: {
      kind: 'function',
      runIn: input.runIn ?? 'inline',
      invoke: async (params, { workspace, ...context }) => {
        if (workspace === undefined) {
          throw new InvalidError(
            'worker/no-workspace',
            `run task "${input.name}": it needs a workspace, and the input has none`,
          )
        }
        return invoke(input, params, (read) => input.body({ ...context, workspace, params: read }))
      },
    },
  }
}

/** Declares a task without files: parameters in, result out. */
export function defineTask<Params extends z.ZodType, Result extends z.ZodType>(
  input: PlainTaskInput<Params, Result>,
): TaskDefinition<Params, Result, undefined> {
  return {
    ...describe(input, ['runIn', 'body']),
    workspace: undefined,
    body: {
      kind: 'function',
      runIn: input.runIn ?? 'inline',
      invoke: (params, context) => invoke(input, params, (read) => input.body({ ...context, params: read })),
    },
  }
}

/**
 * Declares a task whose body is any program, in any language.
 *
 * ```ts
 * export const load = defineCommandTask({
 *   name: 'orders.load',
 *   owner: 'data@example.org',
 *   params: z.object({ day: z.iso.date() }),
 *   result: z.object({ rows: z.int() }),
 *   workspace: { prefix: 'orders' },
 *   command: ['python', 'etl.py'],
 * })
 * ```
 */
export function defineCommandTask<
  Params extends z.ZodType,
  Result extends z.ZodType,
  Workspace extends TaskWorkspaceSpec | undefined = undefined,
>(input: CommandTaskInput<Params, Result, Workspace>): TaskDefinition<Params, Result, Workspace> {
  return {
    ...describe(input, ['workspace', 'commit', 'command', 'env', 'resultFrom']),
    commit: input.commit as CommitSpec | undefined,
    // Where none is given, the type is `undefined` too.
    workspace: input.workspace as Workspace,
    body: {
      kind: 'command',
      command: { command: input.command, env: input.env ?? {}, resultFrom: input.resultFrom ?? 'file' },
    },
  }
}

/** True for a declared task, from any copy of the package. */
export function isTaskDefinition(value: unknown): value is TaskDefinition {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[TASK] === true
}

/** Parses the parameters or the result of a task with their schema. The error lists all problems. */
export async function readWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  of: { readonly task: string; readonly side: 'params' | 'result' },
): Promise<z.output<Schema>> {
  const read = await schema.safeParseAsync(value)
  if (read.success) return read.data
  const problems = read.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.') || '(top)',
    problem: issue.message,
  }))
  throw new InvalidError(
    of.side === 'params' ? 'worker/invalid-params' : 'worker/invalid-result',
    `read the ${of.side === 'params' ? 'parameters' : 'result'} of task "${of.task}": ` +
      problems.map(({ path, problem }) => `${path}: ${problem}`).join('; '),
    { details: { problems } },
  )
}

async function invoke<Params extends z.ZodType, Result extends z.ZodType>(
  { name, ...schemas }: Described<Params, Result>,
  params: unknown,
  body: (params: z.output<Params>) => Awaitable<z.input<Result>>,
): Promise<z.output<Result>> {
  const read = await readWith(schemas.params, params, { task: name, side: 'params' })
  return readWith(schemas.result, await body(read), { task: name, side: 'result' })
}

const TASK_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/
const MAIL = /^[^\s@]+@[^\s@]+$/

const DESCRIBED = ['name', 'description', 'owner', 'params', 'result', 'controls'] as const
const WORKSPACE = [
  'prefix',
  'include',
  'exclude',
  'readOnly',
  'pre',
  'post',
] as const satisfies readonly (keyof TaskWorkspaceSpec)[]
const PLACES: readonly unknown[] = ['inline', 'thread', 'process', undefined] satisfies (
  BodyPlace | undefined
)[]

/** `more`: the keys of this kind of task besides those of every task. */
function describe<Params extends z.ZodType, Result extends z.ZodType>(
  input: Described<Params, Result>,
  more: readonly string[],
): Omit<TaskDefinition<Params, Result>, 'workspace' | 'body'> {
  // A module that is loaded by name may be JavaScript, which no compiler has looked at.
  const given = input as unknown as Readonly<Record<string, unknown>>
  const problems: string[] = [
    ...unknownKeys(input, [...DESCRIBED, ...more]),
    ...(more.includes('workspace') ? unknownKeys(given['workspace'], WORKSPACE, 'workspace') : []),
    ...(more.includes('commit') ? judgeCommitSpec(given['commit']) : []),
    ...(more.includes('body') && typeof given['body'] !== 'function' ? ['body must be a function'] : []),
    ...(PLACES.includes(given['runIn'])
      ? []
      : [`runIn ${JSON.stringify(given['runIn'])}: must be "inline", "thread" or "process"`]),
    ...(['params', 'result'] as const)
      .filter((side) => !isSchema(given[side]))
      .map((side) => `${side} must be a Zod schema`),
  ]
  if (!TASK_NAME.test(input.name)) {
    problems.push(
      `name ${JSON.stringify(input.name)}: must have letters, digits, "_", "-" and ".", at most 200`,
    )
  }
  if (!MAIL.test(input.owner))
    problems.push(`owner ${JSON.stringify(input.owner)}: must be an e-mail address`)
  if (problems.length > 0) {
    throw new InvalidError(
      'worker/invalid-task',
      `declare task ${JSON.stringify(input.name)}: ${problems.join('; ')}`,
      { details: { problems } },
    )
  }
  const { name, description, owner, params, result } = input
  return {
    [TASK]: true,
    ...{ name, description, owner, params, result },
    controls: input.controls === undefined ? DEFAULT_CONTROLS : readControls(input.controls, input.name),
  }
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'safeParseAsync' in value
}
