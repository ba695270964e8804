/** What an engine tells of itself, as metrics for Prometheus. */

import type { EngineEvent, StepStored } from '../../engine/telemetry/engine-events.ts'
import { durationOf, hasEndedWith, rollbacksOf, verbOf } from '../../engine/telemetry/step-changes.ts'
import { STAGES } from '../../engine/protocol/stages.ts'
import { Counter, Gauge, Histogram, Registry } from './prometheus.ts'

/** Bounds in seconds. 0.05 and 0.12 are the service levels of a transition and of reading a graph. */
const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.12, 0.25, 0.5, 1, 2.5, 10]
const SLOW = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 14_400, 86_400]
const BYTES = [1_024, 10_240, 102_400, 1_048_576, 10_485_760, 52_428_800]

/** Of a unit, as its log says; see `docs/reference/events.md`. */
const STATUS_OF_VERB: Readonly<Record<string, string>> = {
  started: 'started',
  completed: 'completed',
  failed: 'failed',
  retrying: 'retried',
  skipped: 'skipped',
  cancelled: 'cancelled',
}
const FINAL_STAGES = ['COMMIT', 'FAILED', 'CANCELLED']
const ROLLBACK_LEVELS = ['execution', 'phase', 'unit', 'artifact', 'checkpoint']

/**
 * Every metric of the engine. No label takes a value that a user chooses, so that the number of series is always the same.
 * `docs/reference/metrics.md` is written from this table.
 */
export const ENGINE_METRICS = {
  hlp_executor_tasks_total: {
    type: 'counter',
    help: 'Units that started, ended or are tried again, as the logs of their executions say.',
    label: { name: 'status', values: Object.values(STATUS_OF_VERB) },
  },
  hlp_executor_execution_duration_seconds: {
    type: 'histogram',
    help: 'How long executions took, by the stage in which they ended.',
    label: { name: 'stage', values: FINAL_STAGES },
    buckets: SLOW,
  },
  hlp_executor_rollback_operations_total: {
    type: 'counter',
    help: 'Rollbacks, by what was undone.',
    label: { name: 'level', values: ROLLBACK_LEVELS },
  },
  hlp_executor_dag_parse_duration_seconds: {
    type: 'histogram',
    help: 'How long it took to check a graph, before it is kept and before it runs.',
    buckets: FAST,
  },
  hlp_executor_state_transition_duration_seconds: {
    type: 'histogram',
    help: 'How long one step of an execution took, from the decision until it was stored.',
    buckets: FAST,
  },
  hlp_executor_checkpoint_size_bytes: {
    type: 'histogram',
    help: 'Size of checkpoints as they are stored.',
    buckets: BYTES,
  },
  hlp_executor_critical_delay_seconds: {
    type: 'histogram',
    help: 'How much later units of the critical path were handed out than if nothing had waited.',
    buckets: SLOW,
  },
  hlp_executor_executions: {
    type: 'gauge',
    help: 'Executions that have not ended, by stage; those that this instance runs.',
    label: { name: 'stage', values: STAGES.filter((stage) => !FINAL_STAGES.includes(stage)) },
  },
  hlp_executor_cpu_seconds_total: {
    type: 'counter',
    help: 'CPU time of the process.',
  },
  hlp_executor_resident_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the process.',
  },
  hlp_executor_storage_bytes: {
    type: 'gauge',
    help: 'What the store takes on disk; 0 where this process cannot see it.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly label?: { readonly name: string; readonly values: readonly string[] }
  readonly buckets?: readonly number[]
}

type MetricName = keyof typeof ENGINE_METRICS

export interface EngineMetricsOptions {
  /** The stages of the open executions, when somebody asks. */
  readonly stages?: () => Iterable<string>
  /** What the store takes on disk, when somebody asks. Default: the metric shows 0. */
  readonly storageBytes?: () => Promise<number>
}

export interface EngineMetrics {
  /** To be given to `openEngine` as one of its observers. */
  readonly observe: (event: EngineEvent) => void
  readonly contentType: string
  /** In Prometheus' text format. */
  readonly render: () => Promise<string>
}

/**
 * ```ts
 * const metrics = openEngineMetrics()
 * const engine = await openEngine({ store, observers: [metrics.observe] })
 * const served = await serveMetrics({ metrics })
 * ```
 */
export function openEngineMetrics(options: EngineMetricsOptions = {}): EngineMetrics {
  const registry = new Registry()
  const counters = new Counters(registry)
  addGauges(registry, options)
  return {
    observe: (event) => observe(counters, event),
    contentType: registry.contentType,
    render: () => registry.metrics(),
  }
}

function observe(metrics: Counters, event: EngineEvent): void {
  switch (event.kind) {
    case 'step':
      observeStep(metrics, event)
      return
    case 'graph-parsed':
      metrics.observe('hlp_executor_dag_parse_duration_seconds', event.durationMs / 1_000)
      return
    case 'checkpoint-taken':
      metrics.observe('hlp_executor_checkpoint_size_bytes', event.storedBytes)
      return
    case 'task-handed-out':
      if (event.task.isCritical)
        metrics.observe('hlp_executor_critical_delay_seconds', event.task.delayMs / 1_000)
      return
  }
}

function observeStep(metrics: Counters, step: StepStored): void {
  metrics.observe('hlp_executor_state_transition_duration_seconds', step.durationMs / 1_000)
  for (const event of step.log) {
    const status = event.source.entityType === 'node' ? STATUS_OF_VERB[verbOf(event)] : undefined
    if (status !== undefined) metrics.count('hlp_executor_tasks_total', status)
  }
  for (const { level = 'execution' } of rollbacksOf(step))
    metrics.count('hlp_executor_rollback_operations_total', level)
  if (hasEndedWith(step)) {
    const seconds = durationOf(step.after) / 1_000
    metrics.observe('hlp_executor_execution_duration_seconds', seconds, step.after.stage)
  }
}

/** Those that count what happens. Every series is there from the beginning, with 0. */
class Counters {
  readonly #counters = new Map<MetricName, Counter>()
  readonly #histograms = new Map<MetricName, Histogram>()

  constructor(registry: Registry) {
    for (const [name, row] of rows()) {
      const { help, label, buckets = [] } = row
      const about = { name, help, labelNames: label === undefined ? [] : [label.name], registers: [registry] }
      if (row.type === 'histogram') {
        const histogram = new Histogram({ ...about, buckets: [...buckets] })
        for (const value of label?.values ?? []) histogram.zero({ [label?.name ?? '']: value })
        this.#histograms.set(name, histogram)
      } else if (row.type === 'counter' && label !== undefined) {
        const counter = new Counter(about)
        for (const value of label.values) counter.inc({ [label.name]: value }, 0)
        this.#counters.set(name, counter)
      }
    }
  }

  count(name: MetricName, value: string): void {
    this.#counters.get(name)?.inc(labelled(name, value))
  }

  observe(name: MetricName, measured: number, value?: string): void {
    this.#histograms.get(name)?.observe(labelled(name, value), measured)
  }
}

function rows(): readonly (readonly [MetricName, MetricRow])[] {
  return Object.entries(ENGINE_METRICS) as readonly (readonly [MetricName, MetricRow])[]
}

function labelled(name: MetricName, value: string | undefined): Record<string, string> {
  const { label }: MetricRow = ENGINE_METRICS[name]
  return label === undefined || value === undefined ? {} : { [label.name]: value }
}

/** Those that are read when somebody asks. */
function addGauges(registry: Registry, { stages, storageBytes }: EngineMetricsOptions): void {
  const about = (name: MetricName) => ({ name, help: ENGINE_METRICS[name].help, registers: [registry] })
  new Gauge({
    ...about('hlp_executor_executions'),
    labelNames: ['stage'],
    collect() {
      for (const stage of ENGINE_METRICS.hlp_executor_executions.label.values) this.set({ stage }, 0)
      for (const stage of stages?.() ?? []) this.inc({ stage })
    },
  })
  new Counter({
    ...about('hlp_executor_cpu_seconds_total'),
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1_000_000)
    },
  })
  new Gauge({
    ...about('hlp_executor_resident_memory_bytes'),
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    ...about('hlp_executor_storage_bytes'),
    async collect() {
      this.set((await storageBytes?.()) ?? 0)
    },
  })
}
