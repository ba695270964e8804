/**
 * Finds the outputs of completed tasks that are not in a history, while the history is walked from its head downwards. What is
 * remembered is bounded: an output whose commit was passed too long ago is looked for again.
 */

import { BoundedMap } from '../base/bounded-map.ts'
import { errorKindOf } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { readNewest } from '../publication/claims.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import { evidenceTag } from '../publication/evidence.ts'
import type { CommitRecord, VersionedRepo } from '../publication/ports.ts'
import type { TaskRecord, WorkflowId } from '../worker/ports.ts'
import { outputOf, readInput } from './gather.ts'
import type { VerifyFinding } from './history-judge.ts'
import { RECOVERY_NAMED_MAX, VERIFY_PAGE_COMMITS } from './limits.ts'
import type { BranchPlace, RecoveryWorld } from './ports.ts'

interface AwaitedOutput {
  readonly taskId: string
  /** Of its commit, once that was read. In a history it falls with each commit. */
  readonly generation?: number
}

export interface LostOutputsOptions {
  readonly rememberedMax: number
  /** Told as soon as it is known. */
  readonly onLost: (finding: VerifyFinding) => void
}

export class LostOutputs {
  readonly #world: RecoveryWorld
  readonly #repo: VersionedRepo
  readonly #place: BranchPlace
  /** Those that were passed last. */
  readonly #passed: BoundedMap<CommitRef, true>
  readonly #asked: BoundedMap<string, true>
  readonly #awaited = new Map<CommitRef, AwaitedOutput>()
  readonly #unknown = new Set<string>()
  #head: CommitRef | undefined
  #passedCount = 0

  readonly #onLost: LostOutputsOptions['onLost']

  constructor(world: RecoveryWorld, place: BranchPlace, { rememberedMax, onLost }: LostOutputsOptions) {
    this.#world = world
    this.#repo = world.repoOf(place.repository)
    this.#place = place
    this.#onLost = onLost
    this.#passed = new BoundedMap({ max: rememberedMax, evict: 'oldest' })
    this.#asked = new BoundedMap({ max: rememberedMax, evict: 'least-recently-used' })
  }

  /** Workflows of the history that Conductor does not know, or all where none is configured; the first of them. */
  get unknownWorkflows(): readonly string[] {
    return [...this.#unknown]
  }

  /** Outputs of which it is not known whether they are in the history. */
  get openCount(): number {
    return this.#awaited.size
  }

  /** The next commit of the history. */
  async pass(commit: CommitRecord): Promise<void> {
    this.#head ??= commit.ref
    this.#passed.set(commit.ref, true)
    this.#passedCount += 1
    this.#awaited.delete(commit.ref)
    const workflow = commit.metadata['publish.workflow' satisfies MetadataKey]
    if (workflow !== undefined && this.#asked.get(workflow) === undefined) {
      this.#asked.set(workflow, true)
      await this.#ask(workflow)
    }
    if (this.#passedCount % VERIFY_PAGE_COMMITS === 0) await this.#settle(commit)
  }

  /** After the last commit: what may be below it is left open, unless that was the first of the branch. */
  async end(oldest: CommitRecord | undefined): Promise<void> {
    if (oldest !== undefined) await this.#settle(oldest)
  }

  async #ask(id: string): Promise<void> {
    const { queue, signal } = this.#world
    const workflow = await queue?.readWorkflow(id as WorkflowId, { signal })
    if (workflow === undefined && this.#unknown.size < RECOVERY_NAMED_MAX) this.#unknown.add(id)
    for (const task of workflow?.tasks ?? []) {
      const output = publishedBy(task, this.#place)
      if (output !== undefined && !this.#passed.has(output))
        this.#awaited.set(output, { taskId: task.taskId })
    }
  }

  /** Those that would have been passed by now, if they were in the history. */
  async #settle(lowest: CommitRecord): Promise<void> {
    for (const [ref, { taskId, generation: known }] of this.#awaited) {
      const generation = known ?? (await this.#readGeneration(ref))
      if (generation !== undefined && generation < lowest.generation && lowest.parents.length > 0) {
        this.#awaited.set(ref, { taskId, generation })
        continue
      }
      const isKept = (generation !== undefined && (await this.#wasPassed(ref))) || (await this.#isTagged(ref))
      this.#awaited.delete(ref)
      if (isKept) continue
      this.#onLost({ check: 'nothing-lost', ref, why: `the output of task ${taskId} is not in the history` })
    }
  }

  async #readGeneration(ref: CommitRef): Promise<number | undefined> {
    return (await this.#repo.readCommit(ref, { signal: this.#world.signal }))?.generation
  }

  async #isTagged(ref: CommitRef): Promise<boolean> {
    const tag = evidenceTag(ref) as BranchPlace['branch']
    return (await readNewest(this.#repo, tag, { signal: this.#world.signal })) !== undefined
  }

  /** Remembered, or found by walking down again. */
  async #wasPassed(wanted: CommitRef): Promise<boolean> {
    if (this.#passed.has(wanted)) return true
    if (this.#passed.size === this.#passedCount || this.#head === undefined) return false
    const limits = { firstParent: true, limit: this.#passedCount, signal: this.#world.signal }
    try {
      for await (const { ref } of this.#repo.log(this.#head, limits)) if (ref === wanted) return true
    } catch (error) {
      if (errorKindOf(error) !== 'missing') throw error
    }
    return false
  }
}

function publishedBy(task: TaskRecord, { repository, branch }: BranchPlace): CommitRef | undefined {
  const input = readInput(task)
  if (input?.repository !== repository || input.branch !== branch) return undefined
  return outputOf(task)
}
