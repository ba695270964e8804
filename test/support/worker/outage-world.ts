// A worker over a queue and a scripted repository, with an outage that a test begins and ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import type { CommitRef } from '../../../src/base/ids.ts'
import { silentLogger } from '../../../src/base/logger.ts'
import { plainRedactor } from '../../../src/base/redaction.ts'
import type { WorkflowView } from '../../../src/engine/protocol/control.ts'
import type { WorkflowId } from '../../../src/fences/attempt-snapshot.ts'
import type { TaskDefinition } from '../../../src/tasks/task-definition.ts'
import { openTestQueue, type TestQueue } from '../../../src/testing/open-test-queue.ts'
import { ScriptedRepo } from '../../../src/testing/scripted-repo.ts'
import type { WorkerEvent } from '../../../src/worker/events.ts'
import { openLocalLeases } from '../../../src/worker/leases/lease.ts'
import type { Outage, OutageWatch } from '../../../src/worker/outages/outage.ts'
import { openOutbox } from '../../../src/worker/results/outbox.ts'
import type { WorkerOptions } from '../../../src/worker/worker-options.ts'
import { startWorker, type RunningWorker } from '../../../src/worker/worker.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'
import { inputFor, MAIN } from './world.ts'

export const AWAY: Outage = { what: 'lakefs', why: 'lakeFS is away: it is told to be', sinceMs: 0 }

export class ScriptedWatch implements OutageWatch {
  /** Which errors are the outage's. */
  explains: (error: unknown) => boolean = () => false
  #outage: Outage | undefined
  readonly #listeners = new Set<() => void>()

  set(outage: Outage | undefined): void {
    this.#outage = outage
    for (const listen of this.#listeners) listen()
  }

  outages(): readonly Outage[] {
    return this.#outage === undefined ? [] : [this.#outage]
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  explain(error: unknown): Promise<Outage | undefined> {
    return Promise.resolve(this.explains(error) ? AWAY : undefined)
  }
}

export interface OutageWorld {
  readonly repo: ScriptedRepo
  readonly inputRef: CommitRef
  readonly queue: TestQueue
  readonly root: WorkspaceRoot
  readonly watch: ScriptedWatch
  readonly events: WorkerEvent[]
  open(tasks: readonly TaskDefinition[], changes?: Partial<WorkerOptions>): Promise<RunningWorker>
  start(name?: string): Promise<WorkflowId>
  ended(workflowId: WorkflowId): Promise<WorkflowView>
}

/** `directory`: of the worker's root; a temporary one unless given. A task is retried twice. */
export async function openOutageWorld(given: { readonly directory?: string } = {}): Promise<OutageWorld> {
  const directory = given.directory ?? (await mkdtemp(join(tmpdir(), 'perago-outage-')))
  const root = await openWorkspaceRoot({ directory, workerId: 'worker-1' })
  onTestFinished(async () => {
    await root.close()
    if (given.directory === undefined) await rm(directory, { recursive: true, force: true })
  })
  const repo = new ScriptedRepo()
  const inputRef = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
  const queue = openTestQueue()
  const watch = new ScriptedWatch()
  const events: WorkerEvent[] = []
  return {
    ...{ repo, inputRef, queue, root, watch, events },
    async open(tasks, changes = {}) {
      for (const { name } of tasks) {
        await queue.registerTask({
          ...{ name, retryCount: 2, retryDelaySeconds: 0, responseTimeoutSeconds: 60 },
          timeoutPolicy: 'RETRY',
        })
        const inputParameters = {
          workspace: '${workflow.input.workspace}',
          params: '${workflow.input.params}',
        }
        await queue.registerWorkflow({ name, tasks: [{ name, taskReferenceName: 'it', inputParameters }] })
      }
      const leases = openLocalLeases({ queue, clock: systemClock, logger: silentLogger })
      const outbox = await openOutbox({
        directory: join(directory, 'outbox'),
        logger: silentLogger,
        now: () => new Date(),
      })
      const worker = startWorker({
        ...{ queue, root, leases, outbox, workerId: 'worker-1' },
        tasks: tasks.map((task) => ({ task })),
        openRepo: () => repo.connect('worker'),
        logger: silentLogger,
        redactor: plainRedactor,
        watches: [watch],
        observers: [(event) => events.push(event)],
        ...changes,
      })
      onTestFinished(async () => {
        await worker.stop({ deadlineMs: 0 })
        await leases.close()
      })
      return worker
    },
    start: (name = 'orders.clean') => queue.start({ name, input: inputFor(inputRef) }),
    async ended(workflowId) {
      const read = async (): Promise<WorkflowView> => {
        const view = await queue.readWorkflow(workflowId)
        if (view === undefined) throw new Error('the workflow is gone')
        return view
      }
      await expect.poll(async () => (await read()).status, { timeout: 25_000 }).not.toBe('RUNNING')
      return read()
    },
  }
}
