/** What became of a task and its publication, from what Conductor keeps of it: input, output, reason and log. Pure. */

import { defined } from '../../base/defined.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { WorkflowTaskReading } from '../../conductor/workflows.ts'
import type { FenceStrength } from '../../publication/strategy.ts'
import { readPublicationLines, type ToldPublication } from '../../worker/results/publication-lines.ts'
import { readStepsLine, type ToldStep } from '../../worker/results/steps-line.ts'

export interface TaskStory {
  readonly publication?: TaskPublication
  /** By when they began, as far as its worker has told them. */
  readonly steps?: readonly ToldStep[]
}

export interface TaskPublication {
  readonly repository: string
  readonly branch: string
  readonly inputRef: string
  /** The commit that the branch had after it. */
  readonly commit?: string
  readonly outcome?: NonNullable<ToldPublication['outcome']> | 'refused'
  readonly strength?: FenceStrength
  readonly replaced?: string
  /** The tag that keeps `replaced`, or the staging branch of what was refused. */
  readonly evidence?: string
  /** Those that are known, in the order in which they are asked. */
  readonly fences: readonly AskedFence[]
}

export interface AskedFence {
  readonly fence: 'attempt' | 'publish' | 'hard'
  readonly passed: boolean
  readonly why?: string
}

type Task = Pick<WorkflowTaskReading, 'status' | 'input' | 'output' | 'reasonForIncompletion'>

/** Of an error of ours. */
export function codeOf(reason: string | undefined): string | undefined {
  return /\[([a-z]+(?:-[a-z]+)*\/[a-z0-9-]+)\]/.exec(reason ?? '')?.[1]
}

/** Whether it has a workspace, and so may have published. */
export function hasWorkspace({ input }: Pick<Task, 'input'>): boolean {
  return workspaceOf(input) !== undefined
}

export function readTaskStory(task: Task, lines: readonly string[]): TaskStory {
  const publication = publicationOf(task, lines)
  // A worker that says how an attempt ended says its steps as well; a body may say anything.
  const isTold = task.status === 'COMPLETED' ? publication?.outcome : codeOf(task.reasonForIncompletion)
  const steps = isTold === undefined ? undefined : readStepsLine(lines)
  return defined({ publication, steps })
}

/** `undefined`: it works on no branch. */
function publicationOf(task: Task, lines: readonly string[]): TaskPublication | undefined {
  const place = workspaceOf(task.input)
  if (place === undefined) return undefined
  const { repository, branch, ref: inputRef } = place
  const told = readPublicationLines(lines)
  const commit = task.status === 'COMPLETED' ? workspaceOf(task.output)?.ref : undefined
  const base = { repository, branch, inputRef, ...defined({ commit }) }
  // Any body may log such lines: only what the result says as well is believed.
  if (told.outcome !== undefined && told.outputRef === commit && commit !== undefined) {
    const { outcome, strength, supersededRef: replaced, evidence } = told
    return { ...base, outcome, ...defined({ strength, replaced, evidence }), fences: passedBy(strength) }
  }
  const refused = task.status === 'COMPLETED' ? undefined : refusalOf(task.reasonForIncompletion)
  if (refused === undefined) return { ...base, fences: [] }
  return { ...base, outcome: 'refused', ...defined({ evidence: told.evidence }), fences: refused }
}

/** Nothing is published before they have passed; see the order in docs/reference/publish-protocol.md. */
function passedBy(strength: FenceStrength | undefined): readonly AskedFence[] {
  const soft = [
    { fence: 'attempt', passed: true },
    { fence: 'publish', passed: true },
  ] as const
  return strength === 'hard' ? [...soft, { fence: 'hard', passed: true }] : soft
}

const REFUSED_BY: Readonly<Record<string, AskedFence['fence'] | undefined>> = {
  'fences/stale-attempt': 'attempt',
  'fences/publish-refused': 'publish',
  'publication/fence-missing': 'hard',
  'publication/fence-damaged': 'hard',
  'publication/fence-off': 'hard',
}
/** By lakeFS itself. */
const REFUSED_BY_SERVER: ReadonlySet<string> = new Set([
  ...['publication/hook-refused', 'publication/commit-refused', 'publication/branch-protected'],
])

function refusalOf(reason: string | undefined): readonly AskedFence[] | undefined {
  const code = codeOf(reason)
  if (code === undefined || reason === undefined) return undefined
  const fence = REFUSED_BY[code]
  if (fence === undefined) return REFUSED_BY_SERVER.has(code) ? [] : undefined
  const why = reason.slice(0, reason.indexOf(` [${code}]`))
  return [{ fence, passed: false, why }]
}

function workspaceOf(given: JsonObject) {
  const workspace: Json | undefined = given['workspace']
  if (typeof workspace !== 'object' || workspace === null || Array.isArray(workspace)) return undefined
  const { repository, branch, ref } = workspace as JsonObject
  if (typeof repository !== 'string' || typeof branch !== 'string' || typeof ref !== 'string')
    return undefined
  return { repository, branch, ref }
}
