/** Pipelines in a test: the real engine over a store in memory, in a time that passes at once. */

import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { branchName, repositoryName } from '../../base/ids.ts'
import type { WorkspaceValue } from '../../engine/definitions/pipeline-units.ts'
import type { PipelineDefinition } from '../../engine/definitions/pipeline-definition.ts'
import type { CheckpointFrequency } from '../../engine/checkpoints/due-checkpoint.ts'
import type { EngineControl } from '../../engine/host/engine-control.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { taskTypesOf } from '../../engine/protocol/task-settings.ts'
import { openDataRollback } from '../../publication/roll-back.ts'
import { ManualClock } from '../manual-clock.ts'
import { taskDefOf } from '../register-definitions.ts'
import { ScriptedRepo } from '../scripted-repo.ts'
import { durationMs, type TestDuration } from './behaviours.ts'
import { Driver } from './driver.ts'
import { EngineHost } from './engine-host.ts'
import type { StoreFaults } from './failing-store.ts'
import { PassingTime } from './passing-time.ts'
import { StartedPipeline } from './started-pipeline.ts'
import {
  needsWorkspace,
  readSource,
  type Source,
  type SourceOptions,
  type TestedPipeline,
  type UntypedPipeline,
} from './source.ts'
import { TestRepository } from './test-repository.ts'
import type { TestWorld } from './test-world.ts'
import { Workbench } from './workbench.ts'

export interface TestEngineOptions {
  /** Same seed, same order. Default: 1. */
  readonly seed?: number
  /** Default: 2026-01-01, 00:00 UTC. */
  readonly startAt?: Date | string
  /** Attempts at the same time. Default: 100. */
  readonly slots?: number
  /** What stands on the branch `main` of the repository of the test: text by path. */
  readonly files?: Readonly<Record<string, string>>
  /** In the place of that repository: one with a script of faults, or with several branches. */
  readonly repo?: ScriptedRepo
  /** When checkpoints are taken. Default: never; units and phases can be rolled back without. */
  readonly checkpoints?: CheckpointFrequency
  /** Which writes of the engine to its store fail, or kill the engine. */
  readonly storeFaults?: StoreFaults
  /** Gets the log of the engine; silent unless given. */
  readonly logger?: Logger
}

/** The workspace may be left out: the pipeline then works on the branch `main` of the repository of the test. */
export type TestInput<Input> = Input extends { readonly workspace: WorkspaceValue }
  ? Omit<Input, 'workspace'> & {
      /** Where it works. Unless given: the default branch of the repository of the test, at its head. */
      readonly workspace?: WorkspaceValue
    }
  : Input

export interface StartOptions<Input> extends SourceOptions {
  /** The input of the execution; empty unless given. */
  readonly input?: TestInput<Input>
}

/**
 * ```ts
 * await using engine = await openTestEngine({ files: { 'raw/orders.csv': 'id\n1\n' } })
 * const run = await engine.start(daily, { input: { day: '2026-01-15' } })
 * await run.publish('external.approved')
 * expect((await run.result()).status).toBe('COMPLETED')
 * ```
 */
export async function openTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const { seed = 1, startAt = DEFAULT_START, storeFaults = () => 'none', slots = SLOTS, logger } = options
  const clock = new ManualClock(new Date(startAt))
  const repository = new TestRepository(options.repo ?? makeRepo(clock, options.files ?? {}))
  const data = openDataRollback({ repoOf: repository.open })
  const { checkpoints = 'never' } = options
  const host = await EngineHost.open({ clock, seed, faults: storeFaults, logger, data, checkpoints })
  const workbench = new Workbench({ repository, queue: () => host.engine.queue })
  const driver = new Driver({ host, clock, workbench, slots })
  const time = new PassingTime({ clock, driver })
  return new TestEngine({ time, clock, host, repository, workbench, driver })
}

export class TestEngine implements AsyncDisposable {
  /** What is on its branches, and what was published. */
  readonly repository: TestRepository
  readonly clock: ManualClock
  readonly #parts: TestWorld
  readonly #started = new Set<WorkflowId>()

  constructor(parts: TestWorld) {
    this.#parts = parts
    this.repository = parts.repository
    this.clock = parts.clock
  }

  /** An operator's commands, such as `pause`, `retry` and `rollBack`. */
  get control(): EngineControl {
    return this.#parts.host.engine.control
  }

  /** Starts a pipeline. Nothing of it has run when this resolves. */
  start<Input, Output>(
    pipeline: PipelineDefinition<Input, Output>,
    options?: StartOptions<Input>,
  ): Promise<StartedPipeline<Output>>
  start(pipeline: UntypedPipeline, options?: StartOptions<JsonObject>): Promise<StartedPipeline>
  async start(pipeline: TestedPipeline, options: StartOptions<JsonObject> = {}): Promise<StartedPipeline> {
    const { driver } = this.#parts
    const source = await readSource(pipeline, options)
    await this.#register(source)
    const given = options.input ?? {}
    const input = needsWorkspace(source, given) ? { ...given, workspace: this.repository.workspace() } : given
    const workflowId = await driver.insist(() => this.#startOnce(source, input))
    this.#started.add(workflowId)
    driver.add(workflowId, source, [source.graph, ...source.children].flatMap(taskTypesOf))
    return new StartedPipeline(this.#parts, workflowId)
  }

  /** Lets this much time pass, with everything that happens in it. */
  async skip(duration: TestDuration): Promise<void> {
    await this.#parts.time.skip(durationMs(duration))
  }

  /** Kills the engine as `kill -9` does; another one takes over when its lease is over. */
  async kill(): Promise<void> {
    this.#parts.host.kill()
    await this.#parts.driver.turn()
  }

  /** May be called twice. */
  readonly close = once(async () => {
    await this.#parts.host.close()
    await this.#parts.workbench.close()
  });

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** If the response to a start was lost, it has happened all the same, or it has not. */
  async #startOnce({ graph }: Source, input: JsonObject): Promise<WorkflowId> {
    const open = await this.control.listOpen()
    const lost = open.find(({ workflowId, name }) => name === graph.name && !this.#started.has(workflowId))
    return lost?.workflowId ?? this.control.startGraph(graph, { input })
  }

  async #register({ tasks, children }: Source): Promise<void> {
    const { driver } = this.#parts
    for (const task of tasks.values()) await driver.insist(() => this.control.registerTask(taskDefOf(task)))
    for (const child of children) await driver.insist(() => this.control.registerGraph(child))
  }
}

const DEFAULT_START = '2026-01-01T00:00:00Z'
const SLOTS = 100

function makeRepo(clock: ManualClock, files: Readonly<Record<string, string>>): ScriptedRepo {
  const repo = new ScriptedRepo({ repository: repositoryName('test-data'), now: () => clock.now() })
  if (Object.keys(files).length > 0)
    repo.commitDirectly(branchName(repo.defaultBranch), files, 'What the test begins with')
  return repo
}
