/** One case of `tryEveryCrash`: the world of one attempt and its retries, and what did not hold in it. */

import type { Json } from '../../base/json.ts'
import { messageOf } from '../../base/errors.ts'
import { FENCE_PATH } from '../../publication/fence-file.ts'
import type { HardFences } from '../../publication/hard-fences.ts'
import { PUBLICATION_CONFIRMATION_AGE_MAX_MS } from '../../publication/limits.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { listStaging, removeLeftStaging } from '../../worker/branches/left-staging.ts'
import { runWorld, type Ran, type RecordingDecider } from '../worlds/explore.ts'
import type { CompletedStep } from '../worlds/queue.ts'
import type { Budget, WorldScenario } from '../worlds/scenario.ts'
import type { Work } from '../worlds/work.ts'
import type { World } from '../worlds/world.ts'

/** What a task has published and reported when it completed, whatever happened before. */
export interface CrashOutcome {
  /** Text by path: the branch as the reported commit has it. */
  readonly files: Readonly<Record<string, string>>
  /** As the task queue has it. */
  readonly result: Json
  /** How often the task was handed out. */
  readonly attempts: number
}

export interface CrashCase {
  readonly task: TaskDefinition
  readonly work: Work
  readonly strength: 'soft' | 'hard'
  readonly fences: HardFences
  readonly budget: Readonly<Budget>
  readonly check: ((outcome: CrashOutcome) => unknown) | undefined
  readonly isUndisturbed: boolean
  /** What every case must have changed and reported; `undefined`: this is the undisturbed one, or they may differ. */
  readonly wanted: string | undefined
}

export interface CrashRan extends Ran {
  /** What did not hold, in sentences. */
  readonly problems: readonly string[]
  readonly happened: Readonly<Budget>
  readonly attempts: number
  readonly changed: string | undefined
}

/** Enough for everything that a budget lets go wrong; without trouble a task needs none. */
const RETRIES_MAX = 12

export async function runCase(of: CrashCase, decider: RecordingDecider): Promise<CrashRan> {
  const { strength, budget, fences, work, task } = of
  const { replace, onRetry } = task.controls
  const scenario: WorldScenario = {
    ...{
      strength,
      budget,
      replace,
      steps: 1,
      retriesMax: of.isUndisturbed ? 0 : RETRIES_MAX,
      isRetryFirst: true,
    },
    ...(onRetry === 'adopt' && { onRetry }),
    ageMaxMs: PUBLICATION_CONFIRMATION_AGE_MAX_MS,
  }
  const { world, ...ran } = await runWorld({ scenario, decider, fences, work })
  const [completed] = world.queue.completed
  const changed = completed && describeChanges(world, completed)
  const problems = [
    ...ran.verdict.violations.map(String),
    ...(await findLeftStaging(world)),
    ...(completed === undefined ? findWhyNotCompleted(world) : await checkOutcome(of, world, completed)),
  ]
  if (changed !== undefined && of.wanted !== undefined && changed !== of.wanted)
    problems.push('published or reported something else than without trouble')
  const { happened, queue } = world
  return { ...ran, problems, happened, changed, attempts: queue.attempts.length }
}

/** Somebody else's commit may keep a task from publishing, and nothing else may. */
function findWhyNotCompleted(world: World): readonly string[] {
  const { queue, foreign } = world
  const isRefused = queue.attempts.some(({ status }) => status === 'FAILED_WITH_TERMINAL_ERROR')
  if (isRefused && foreign.length > 0) return []
  const reason = queue.attempts.at(-1)?.reason ?? ''
  return [`the task did not complete${reason === '' ? '' : `: ${reason}`}`]
}

async function checkOutcome({ check }: CrashCase, world: World, completed: CompletedStep): Promise<string[]> {
  try {
    await check?.(outcomeOf(world, completed))
    return []
  } catch (error) {
    return [`the check of the test failed: ${messageOf(error)}`]
  }
}

function outcomeOf({ repo, queue }: World, { outputRef, result }: CompletedStep): CrashOutcome {
  const tree = repo.model.treeAt(outputRef) ?? new Map<string, { readonly bytes: Uint8Array }>()
  const files = [...tree].flatMap(([path, { bytes }]) =>
    path === FENCE_PATH ? [] : [[path, Buffer.from(bytes).toString()] as const],
  )
  return { files: Object.fromEntries(files), result: result ?? null, attempts: queue.attempts.length }
}

/** What the task has changed, and its result. */
function describeChanges({ repo: { model } }: World, completed: CompletedStep): string {
  const { inputRef, outputRef, result } = completed
  const [before, after] = [model.treeAt(inputRef) ?? new Map(), model.treeAt(outputRef) ?? new Map()]
  const changes = model
    .diff(before, after)
    .map(({ path, change }) => [path, change, model.treeAt(outputRef)?.get(path)?.checksum])
  return JSON.stringify([changes, result ?? null])
}

/** Looks as workers do now and then; what is left after that would stay for ever. Evidence stays on purpose. */
async function findLeftStaging(world: World): Promise<readonly string[]> {
  const { queue } = world
  const repo = world.openAfterwards('clean-up')
  await removeLeftStaging(
    {
      repo,
      queue: {
        readTask: (taskId) => Promise.resolve(queue.readTask(taskId)),
        readWorkflowStatus: () => Promise.resolve(queue.workflow),
      },
      notes: { seen: {}, after: '' },
      ...{ nowMs: Date.now(), endedAgeMs: 0, unknownAgeMs: Infinity },
    },
    {},
  )
  const left: string[] = []
  for (const { branch, head } of await listStaging(repo, {})) {
    const commit = await repo.readCommit(head)
    if (commit?.metadata['publish.evidence'] === undefined)
      left.push(`staging branch "${branch}" is left, and nobody will clear it`)
  }
  return left
}
