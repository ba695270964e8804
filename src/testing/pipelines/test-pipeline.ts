/** One pipeline, from its start to its end. */

import type { JsonObject } from '../../base/json.ts'
import type { PipelineDefinition } from '../../engine/definitions/pipeline-definition.ts'
import { durationMs, type TestDuration } from './behaviours.ts'
import type { PipelineRun } from './pipeline-run.ts'
import type { TestedPipeline, UntypedPipeline } from './source.ts'
import type { StartedPipeline } from './started-pipeline.ts'
import { openTestEngine, type StartOptions, type TestEngineOptions } from './test-engine.ts'

export interface TestPipelineOptions<Input> extends TestEngineOptions, StartOptions<Input> {
  /** What happens outside while it runs, by the time since its start. */
  readonly events?: readonly TestEvent[]
}

export interface TestEvent {
  /** Such as `external.approved`. */
  readonly type: string
  readonly payload?: JsonObject
  /** Default: right after the start. */
  readonly after?: TestDuration
}

/**
 * Runs a pipeline as the engine does, in a time that passes at once. Tasks whose functions are known do their work, over the
 * directory of a repository in memory; `units` says what others do instead.
 *
 * ```ts
 * const run = await testPipeline(daily, {
 *   input: { day: '2026-01-15' },
 *   units: { load: failTimes(2, answer({ rows: 3 })) },
 * })
 * expect(run.requireCompleted().rows).toBe(3)
 * expect(run.order).toEqual(['load', 'load', 'load', 'report'])
 * ```
 */
export async function testPipeline<Input, Output>(
  pipeline: PipelineDefinition<Input, Output>,
  options?: TestPipelineOptions<Input>,
): Promise<PipelineRun<Output>>
export async function testPipeline(
  pipeline: UntypedPipeline,
  options?: TestPipelineOptions<JsonObject>,
): Promise<PipelineRun>
export async function testPipeline(
  pipeline: TestedPipeline,
  options: TestPipelineOptions<JsonObject> = {},
): Promise<PipelineRun> {
  const engine = await openTestEngine(options)
  try {
    // The engine finds out which it is; the types of a declared one were checked above.
    const started = await engine.start(pipeline as UntypedPipeline, options)
    await giveEvents(started, options.events ?? [])
    return await started.result()
  } finally {
    await engine.close()
  }
}

async function giveEvents(started: StartedPipeline, events: readonly TestEvent[]): Promise<void> {
  const timed = events.map((event) => ({ ...event, atMs: durationMs(event.after ?? 0) }))
  let elapsedMs = 0
  for (const { type, payload, atMs } of timed.sort((one, other) => one.atMs - other.atMs)) {
    if (atMs > elapsedMs) await started.skip(atMs - elapsedMs)
    elapsedMs = Math.max(elapsedMs, atMs)
    // Nobody outside knows that it has ended already.
    if (!(await started.isOpen())) return
    await started.publish(type, payload)
  }
}
