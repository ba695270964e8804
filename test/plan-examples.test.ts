// The programs of examples/plans, on a clock that moves only when told to. They import the built package, `dist/`.
import { PlanRegistry } from 'perago/engine'
import { describe, expect, test } from 'vitest'
import * as advice from '../examples/plans/advice.ts'
import * as builders from '../examples/plans/builders.ts'
import * as business from '../examples/plans/business.ts'
import { ConfigSharing, GLOBAL_CONFIG } from '../examples/plans/config-sharing.ts'
import * as errors from '../examples/plans/errors.ts'
import * as main from '../examples/plans/main-program.ts'
import * as oneOrder from '../examples/plans/one-order.ts'
import * as pipelines from '../examples/plans/pipelines.ts'
import * as synchronising from '../examples/plans/synchronising.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'

/** Runs a program with a clock of its own; `tookMs` is the time that passed on it. */
async function run<T>(
  program: () => Promise<T>,
): Promise<{ result: T; tookMs: number; left: readonly string[] }> {
  const clock = new ManualClock()
  const registry = new PlanRegistry({ clock })
  const result = await clock.run(registry.use(program))
  return { result, tookMs: clock.monotonicMs(), left: registry.ids() }
}

describe('the main program', () => {
  test('P-237 P-242 it lasts as long as the slowest task of each order, and returns Done', async () => {
    const { result, tookMs, left } = await run(main.Test)
    expect(result.returned).toBe('Done')
    expect(tookMs).toBe(800)
    expect(left).toEqual([])
  })

  test('P-238 P-241 its tasks hand a value on and return time stamps', async () => {
    const { data } = (await run(main.Test)).result
    expect(data).toEqual({
      'task-1': expect.any(Number) as number,
      'task-2': expect.any(Number) as number,
      'task-3': { ts: expect.any(Number) as number, shared: 'foo-foo1' },
      'task-4': { ts: expect.any(Number) as number, shared: 'bar-foo3' },
    })
  })

  test('P-239 P-240 its handlers get plan id, key, data and their argument, and may ask for the status', async () => {
    const { heard } = (await run(main.Test)).result
    const of = (name: string): typeof heard => heard.filter(({ handler }) => handler === name)
    expect(of('SomeKey').map(({ args, running }) => [...args, running])).toEqual([
      ['test-plan', 'some-key', 'foo-foo1', 'bar', 2],
      ['test-plan', 'some-key', 'bar-foo3', 'bar', 2],
    ])
    for (const name of ['TaskStarted', 'TaskCompleted']) {
      expect(of(name)).toHaveLength(4)
      for (const { args } of of(name)) {
        expect(args.slice(0, 2)).toEqual(['test-plan', name])
        expect(args.at(-1)).toBe('foo')
      }
    }
  })
})

describe('synchronising', () => {
  test.each([[['init', 'dependent']], [['dependent', 'init']]] as const)(
    'P-140 P-228 a flag works, whichever task is first: %s',
    async (order) => {
      const { result } = await run(() => synchronising.SynchronizedSameOrder(order))
      expect(result).toEqual({ 'init-task': 'init_done', 'dependent-task': 42, processed_result: 42 })
    },
  )

  test('P-140 without its init task the dependent one fails after about a second', async () => {
    const clock = new ManualClock()
    const program = (): Promise<unknown> => synchronising.SynchronizedSameOrder(['dependent'])
    await expect(clock.run(new PlanRegistry({ clock }).use(program))).rejects.toThrow(
      'initialization timeout',
    )
    expect(clock.monotonicMs()).toBe(1000)
  })

  test('P-141 P-229 an event tells that the data is there', async () => {
    expect((await run(synchronising.EventDrivenSync)).result).toEqual({
      'producer-task': 3,
      'consumer-task': 6,
      consumed_result: 6,
      event: { type: 'DATA_READY', length: 3 },
      calls: 1,
    })
  })

  test('P-142 P-230 separate orders succeed a hundred times out of a hundred', async () => {
    for (let round = 0; round < 100; round++)
      expect((await run(synchronising.RecommendedApproach)).result).toEqual({
        'data-preparation': 3,
        'data-processing': 30,
        processed_result: 30,
      })
  })

  test.each(['writer', 'reader'] as const)(
    'P-144 P-227 the race ends well with the %s first',
    async (first) => {
      const { result } = await run(() => synchronising.RaceConditionTest(first))
      expect(result).toMatchObject({ 'writer-task': 'writer_completed', 'reader-task': 'reader_completed' })
      const seen = result.seen as string[]
      expect(['first', 'not found']).toContain(seen[0])
      expect(seen.slice(1)).toEqual(['first', 'first', 'second', 'second'])
    },
  )

  test('P-81 P-86 within one order a reader may find nothing, an old value or the new one', async () => {
    const first = (await run(() => synchronising.RaceConditionTest('reader'))).result.seen as string[]
    const second = (await run(() => synchronising.RaceConditionTest('writer'))).result.seen as string[]
    expect([first[0], second[0], second[4]]).toEqual(['not found', 'first', 'second'])
  })
})

describe('one order', () => {
  test('P-214 P-216 a consumer gets every item of a producer beside it', async () => {
    const { result } = await run(oneOrder.ProducerConsumerSameOrder)
    expect(result).toMatchObject({
      consumer: 10,
      total_consumed: 10,
      last_consumed: 9,
      consumption_complete: true,
    })
    expect((result.consumed_items as { id: number }[]).map(({ id }) => id)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
  })

  test('P-215 the producer keeps its counts, and returns how many', async () => {
    const { result } = await run(oneOrder.ProducerConsumerSameOrder)
    expect(result).toMatchObject({
      producer: 10,
      last_produced: 9,
      total_produced: 10,
      production_complete: true,
    })
    expect(result.items).toEqual(Array.from({ length: 10 }, () => true))
  })

  test('P-151 P-233 ten batches are collected and processed as they come', async () => {
    expect((await run(oneOrder.RealTimeCollaboration)).result).toEqual({
      'data-collector': 10,
      'data-processor': 'processing_completed',
      'progress-monitor': 10,
      processed_count: 10,
    })
  })

  test('P-152 a processor whose collector has died ends by a timeout', async () => {
    const clock = new ManualClock()
    const program = (): Promise<unknown> => oneOrder.RealTimeCollaboration(4)
    await expect(clock.run(new PlanRegistry({ clock }).use(program))).rejects.toThrow(
      'wait for "batch_4": not there after 1000 ms',
    )
    expect(clock.monotonicMs()).toBe(1_400)
  })

  test('P-226 a sum in three parts is merged and post-processed', async () => {
    const { result } = await run(oneOrder.ComplexCalculation)
    expect([result['merge-results'], result['post-process']]).toEqual([45_150, 150.5])
  })
})

describe('pipelines', () => {
  test('P-39 the workflow example collects three kinds of data, processes two and reports', async () => {
    const { result } = await run(pipelines.WorkflowExample)
    expect(Object.keys(result)).toHaveLength(6)
    expect(result['generate-report']).toEqual({ users: 1, products: 2, orders: 3 })
  })

  test('P-217 seven tasks in four layers end with pipeline_complete', async () => {
    const { result } = await run(pipelines.PipelineDifferentOrders)
    expect(result.pipeline_complete).toBe(true)
    expect(Object.keys(result).filter((key) => key.includes('-'))).toHaveLength(7)
  })

  test('P-218 extraction stores data, count, source and time', async () => {
    const { result } = await run(pipelines.PipelineDifferentOrders)
    expect(result.raw_users).toEqual({
      data: pipelines.SAMPLE_USERS,
      count: 3,
      source: 'users_db',
      extracted_at: expect.any(Number) as number,
    })
    expect(result['extract-users']).toBe(3)
  })

  test('P-219 cleaning drops bad addresses, trims names and lowers e-mails; without users it fails', async () => {
    const { result } = await run(pipelines.PipelineDifferentOrders)
    expect(result.clean_users).toMatchObject({
      data: [
        { id: 1, name: 'Ada', email: 'ada@example.org' },
        { id: 3, name: 'Cem', email: 'cem@example.org' },
      ],
      count: 2,
      original_count: 3,
    })
    const none = { Get: () => { throw new Error('not found') } } // prettier-ignore
    expect(() => pipelines.data_clean_users('p', 't', none as never)).toThrow('not found')
  })

  test('P-220 transformed users hold no e-mail in clear', async () => {
    const { result } = await run(pipelines.PipelineDifferentOrders)
    const { data } = result.transformed_users as { data: Record<string, unknown>[] }
    expect(Object.keys(data[0] ?? {})).toEqual([
      ...['user_id', 'display_name', 'email_hash', 'registration_date', 'status', 'transformed_at'],
    ])
    expect(data[0]?.email_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(data)).not.toContain('@')
  })

  test('P-221 the summary counts users, orders and the pipeline; missing inputs count as 0', async () => {
    const { result } = await run(pipelines.PipelineDifferentOrders)
    expect(result.final_summary).toMatchObject({
      users: { original_count: 3, cleaned_count: 2, final_count: 2 },
      orders: { final_count: 2 },
      pipeline: { total_processed: 4 },
    })
    const nothing = { Get: (_: string, fallback: unknown) => fallback, Set: () => undefined }
    expect(pipelines.data_aggregate_load('p', 't', nothing as never)).toMatchObject({
      users: { final_count: 0 },
      orders: { final_count: 0 },
      pipeline: { total_processed: 0 },
    })
  })

  test('P-150 P-232 the ETL pipeline gives sources to extractions and the plan to the others', async () => {
    const { data, received } = (await run(pipelines.ETL_Pipeline)).result
    expect(Object.keys(data)).toHaveLength(7)
    expect(received).toMatchObject({
      'extract-users': ['db1'],
      'extract-orders': ['db2'],
      'extract-products': ['api'],
    })
    expect((received['load-users']?.[0] as { id: string }).id).toBe('etl-pipeline')
    expect(data['load-users']).toEqual([1, 2])
  })

  test.each([false, true])(
    'P-222 P-224 the mixed mode runs, with the monitor first: %s',
    async (monitorFirst) => {
      const { result } = await run(() => pipelines.MixedModeExample(monitorFirst))
      expect(result['monitor-progress']).toMatchObject({
        api_collected: 5,
        file_collected: 3,
        total_collected: 8,
        collection_complete: true,
      })
      expect(result['merge-results']).toBe(16)
    },
  )

  test('P-223 each collection stores progress, data and a flag, and returns its count', async () => {
    const { result } = await run(pipelines.MixedModeExample)
    expect(result.keys).toHaveLength(6)
    expect([result['collect-api'], result['collect-file']]).toEqual([5, 3])
  })

  test('P-149 P-231 data is created, used and removed layer by layer', async () => {
    const { data, keys } = (await run(pipelines.DataLifecycleExample)).result
    expect(keys).toEqual([
      ['work_data', 'data_metadata'],
      ['data_metadata', 'processing_result'],
      ['processing_result'],
    ])
    expect(data).toEqual({ 'create-data': 3, 'use-data': 6, 'final-cleanup': 'cleanup_done' })
  })
})

describe('configuration', () => {
  test('P-153 P-234 order 2 reads the configuration that order 1 has stored', async () => {
    const { result, error } = (await run(ConfigSharing)).result
    expect(error).toBeUndefined()
    expect(result).toMatchObject({ config: GLOBAL_CONFIG, loadedAt: expect.any(Number) as number })
    expect(result.data).toMatchObject({ 'load-config': 'config_loaded', worker2: 'worker2 done' })
  })

  test('P-154 three workers count without losing an update, a hundred times', async () => {
    for (let round = 0; round < 100; round++) {
      const { result } = (await run(ConfigSharing)).result
      expect(result.state).toEqual({ workers_active: 0, total_processed: 3, errors: [] })
    }
  })

  test('P-154 P-234 a failing worker stores its name and error, then fails the plan', async () => {
    const { result, error } = (await run(() => ConfigSharing('worker2'))).result
    expect(result.status).toBe('failed')
    expect(result.state).toMatchObject({
      workers_active: 0,
      errors: expect.arrayContaining([{ worker: 'worker2', error: 'out of memory' }]) as unknown,
    })
    expect(error).toMatchObject({ taskId: 'worker2' })
  })
})

describe('errors', () => {
  test('P-243 P-58 handlers write to a database, notify and log', async () => {
    const failed = (await run(() => errors.RobustDataProcessing('disk full', []))).result
    expect(failed).toEqual({
      database: [],
      messages: ['robust-processing: risky-task failed: disk full'],
      log: [],
    })
    const good = (await run(() => errors.RobustDataProcessing('', ['an earlier call']))).result
    expect(good.database).toEqual(['risky-task', 'next-task'])
    expect(good.log).toEqual(['TaskCompleted risky-task', 'TaskCompleted next-task'])
  })

  test.each([
    ['a timeout', 2, 0],
    ['the connection was lost', 2, 5000],
    ['disk full', 1, 0],
  ])('P-244 after "%s" the task is called %s times within %s ms', async (message, count, ms) => {
    const calls: string[] = []
    const { tookMs } = await run(() => errors.RobustDataProcessing(message, calls))
    expect([calls.length, tookMs]).toEqual([count, ms])
  })

  test('P-209 P-236 robustTask leaves a note before it passes its error on', async () => {
    expect((await run(() => errors.RunRobustTask(21))).result.result).toBe(42)
    const { result, error } = (await run(() => errors.RunRobustTask())).result
    expect(result).toEqual({
      task_id: 'robust',
      error: 'the required data is missing',
      timestamp: expect.any(Number) as number,
    })
    expect(error).toMatchObject({ taskId: 'robust' })
  })

  test('P-210 cleanupPlan releases its plan after a good and after a failed run', async () => {
    expect((await run(() => errors.cleanupPlan(() => 1))).left).toEqual([])
    const registry = new PlanRegistry()
    const failing = errors.cleanupPlan
    await expect(registry.use(() => failing(() => Promise.reject(new Error('boom'))))).rejects.toThrow('boom')
    expect(registry.ids()).toEqual([])
  })
})

describe('advice', () => {
  test('P-203 what is needed is read once', async () => {
    expect((await run(advice.GoodHabits)).result.reading).toBe(42)
  })

  test('P-204 an index is built once and kept', async () => {
    expect((await run(advice.GoodHabits)).result).toMatchObject({ structure: 'user 7', hasIndex: true })
  })

  test('P-205 P-236 a large value is removed as soon as possible, the small result stays', async () => {
    expect((await run(advice.GoodHabits)).result).toMatchObject({
      memory: 10_000,
      hasBigData: false,
      processing_result: 10_000,
    })
  })

  test('P-235 each of the three bad habits is flagged, its corrected twin is not', async () => {
    const sync = (corrected: boolean) => Promise.resolve(advice.AntiPattern_StrongDependency(corrected))
    const rules = async (program: (corrected: boolean) => Promise<readonly string[]>): Promise<unknown> => [
      (await run(() => program(false))).result,
      (await run(() => program(true))).result,
    ]
    expect(await rules(sync)).toEqual([['same-order-dependence'], []])
    expect(await rules(advice.AntiPattern_ScatteredData)).toEqual([['scattered-keys'], []])
    expect(await rules(advice.AntiPattern_NoCleanup)).toEqual([['not-released'], []])
  })
})

describe('business', () => {
  const widths = (layers: string[][]): number[] => layers.map((layer) => layer.length)

  test('P-245 the data pipeline extracts three sources, cleans, transforms and loads', async () => {
    const { layers, received } = (await run(business.DataPipeline)).result
    expect(widths(layers)).toEqual([3, 2, 1])
    expect(received).toMatchObject({
      'extract-mysql': ['mysql'],
      'extract-api': ['api'],
      'extract-file': ['file'],
    })
  })

  test('P-246 an order runs nine tasks; a failed payment check stops it before the second layer', async () => {
    expect(widths((await run(() => business.OrderProcessing('7'))).result.layers)).toEqual([3, 2, 2, 2])
    const failed = (await run(() => business.OrderProcessing('7', 'validate-payment'))).result
    expect(widths(failed.layers)).toEqual([2, 0, 0, 0])
    expect(failed.status).toBe('failed')
  })

  test('P-225 the order with events calls each handler once', async () => {
    const { heard, layers } = (await run(business.OrderProcessingWithEvents)).result
    expect(heard).toEqual([
      ['payment_result', 'paid'],
      ['inventory_reserved', true],
    ])
    expect(widths(layers)).toEqual([2, 2])
  })

  test('P-247 twenty images make a hundred tasks', async () => {
    const { layers, received } = (await run(() => business.BatchImageProcessing(20))).result
    expect(widths(layers)).toEqual([20, 40, 20, 20])
    expect(received['resize-image-3']).toEqual(['image-3', 800, 600])
    expect(received['compress-image-3']).toEqual(['image-3', 80])
  })

  test('P-248 a monthly report runs eleven tasks, and gives them year and month', async () => {
    const { layers, received } = (await run(() => business.MonthlyReportGeneration(2026, 3))).result
    expect(widths(layers)).toEqual([4, 3, 2, 2])
    expect(Object.values(received)).toEqual(Array.from({ length: 11 }, () => [2026, 3]))
  })

  test('P-249 a system is initialised in nine tasks, migration before seeding', async () => {
    const { layers } = (await run(business.SystemInitialization)).result
    expect(widths(layers)).toEqual([3, 1, 1, 2, 2])
    expect([layers[1], layers[2]]).toEqual([['migrate-database'], ['seed-database']])
  })

  test('P-250 content is published in eleven tasks; a failed review publishes nothing', async () => {
    expect(widths((await run(() => business.ContentPublishing('a'))).result.layers)).toEqual([3, 3, 2, 3])
    const { layers } = (await run(() => business.ContentPublishing('a', 'moderator-review'))).result
    expect(layers[3]).toEqual([])
  })
})

describe('builders', () => {
  test('P-200 the ETL builder makes four pipeline tasks in three layers', async () => {
    const { tasks, status, log } = (await run(builders.buildETLPipeline)).result
    expect(tasks.map(({ order, type }) => [order, type])).toEqual(
      [1, 1, 2, 3].map((order) => [order, 'pipeline']),
    )
    expect(status).toBe('completed')
    expect(log).toEqual([
      ['extract-users', 'users_db'],
      ['extract-orders', 'orders_db'],
      ['transform-data', undefined],
      ['load-data', 'warehouse_db'],
    ])
  })

  test('P-201 the monitor builder makes three synced tasks in one layer', async () => {
    const { tasks, log } = (await run(builders.buildRealtimeMonitor)).result
    expect(tasks.map(({ order, type }) => [order, type])).toEqual([1, 1, 1].map((order) => [order, 'synced']))
    expect(log).toEqual([
      ['collected', ['api1', 'api2', 'api3']],
      ['processed', 'streaming'],
      ['alert', 85],
    ])
  })

  test('P-202 the independent builder calls both handlers; its plan has no task', async () => {
    const { tasks, log } = (await run(builders.buildIndependentCompute)).result
    expect(tasks).toEqual([])
    expect(log).toEqual([
      [null, 'math-compute', 'sum', [1, 2, 3, 4, 5]],
      [null, 'image-process', 'photo.png', ['blur', 'sharpen']],
    ])
  })

  test('P-178 the demonstration prints three scenarios without a warning', () => {
    const lines: string[] = []
    builders.demonstrateDecisionMaking((line) => lines.push(line))
    expect(lines.filter((line) => line.startsWith('== '))).toEqual([
      ...['== ETL', '== live monitoring', '== independent computing'],
    ])
    expect(lines.filter((line) => line === 'valid')).toHaveLength(3)
    expect(lines.join('\n')).not.toContain('warning')
  })
})
