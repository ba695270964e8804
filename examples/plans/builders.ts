// Plans that are built from what their tasks need, and the decisions behind them.
import {
  PlanBuilder,
  SharedSpaceDecisionMaker,
  validateDecision,
  type BuiltTask,
  type Plan,
  type SharingRequirements,
  type SyncWait,
} from 'perago/engine'

const PIPELINE: SharingRequirements = { needsCommunication: true, hasDependency: true, needsRealtime: false }
const REALTIME: SharingRequirements = { needsCommunication: true, hasDependency: false, needsRealtime: true }
const COMPUTING: SharingRequirements = {
  needsCommunication: false,
  hasDependency: false,
  needsRealtime: false,
}

export interface Built {
  readonly tasks: readonly BuiltTask[]
  readonly status: string
  readonly log: readonly unknown[]
}

async function build(builder: PlanBuilder, log: readonly unknown[]): Promise<Built> {
  const plan = await builder.build()
  return { tasks: builder.tasks, status: plan.Status().plan, log }
}

export function buildETLPipeline(): Promise<Built> {
  const log: unknown[] = []
  const note = (_plan_id: string, taskId: string, _plan: Plan, value?: string): unknown =>
    log.push([taskId, value])
  const builder = new PlanBuilder('auto-etl')
    .addTaskFromDecision(PIPELINE, {
      taskId: 'extract-users',
      order: 1,
      handler: note,
      dataSource: 'users_db',
    })
    .addTaskFromDecision(PIPELINE, {
      taskId: 'extract-orders',
      order: 1,
      handler: note,
      dataSource: 'orders_db',
    })
    .addTaskFromDecision(PIPELINE, { taskId: 'transform-data', order: 2, handler: note })
    .addTaskFromDecision(PIPELINE, { taskId: 'load-data', order: 3, handler: note, target: 'warehouse_db' })
  return build(builder, log)
}

export function buildRealtimeMonitor(): Promise<Built> {
  const log: unknown[] = []
  const collect = (
    _plan_id: string,
    _taskId: string,
    plan: Plan,
    _wait: SyncWait,
    sources: unknown,
  ): void => {
    log.push(['collected', sources])
    plan.Set('metrics', { cpu: 85 })
  }
  const process = async (_: string, __: string, plan: Plan, wait: SyncWait, type: unknown): Promise<void> => {
    plan.Set('processed', await wait('metrics'))
    log.push(['processed', type])
  }
  const alert = async (
    _: string,
    __: string,
    _plan: Plan,
    wait: SyncWait,
    thresholds: { cpu: number },
  ): Promise<void> => {
    const { cpu } = (await wait('processed')) as { cpu: number }
    if (cpu > thresholds.cpu) log.push(['alert', cpu])
  }
  const builder = new PlanBuilder('realtime-monitor')
    .addTaskFromDecision(REALTIME, {
      taskId: 'data-collector',
      order: 1,
      handler: collect,
      sources: ['api1', 'api2', 'api3'],
    })
    .addTaskFromDecision(REALTIME, {
      taskId: 'realtime-processor',
      order: 1,
      handler: process,
      processingType: 'streaming',
    })
    .addTaskFromDecision(REALTIME, {
      taskId: 'alert-generator',
      order: 1,
      handler: alert,
      thresholds: { cpu: 80, memory: 90 },
    })
  return build(builder, log)
}

export function buildIndependentCompute(): Promise<Built> {
  const log: unknown[] = []
  const note = (plan: null, taskId: string, ...values: unknown[]): unknown =>
    log.push([plan, taskId, ...values])
  const builder = new PlanBuilder('independent-compute')
    .addTaskFromDecision(COMPUTING, {
      taskId: 'math-compute',
      handler: note,
      formula: 'sum',
      inputs: [1, 2, 3, 4, 5],
    })
    .addTaskFromDecision(COMPUTING, {
      taskId: 'image-process',
      handler: note,
      imagePath: 'photo.png',
      filters: ['blur', 'sharpen'],
    })
  return build(builder, log)
}

const SCENARIOS: readonly (readonly [string, SharingRequirements])[] = [
  ['ETL', PIPELINE],
  ['live monitoring', REALTIME],
  ['independent computing', COMPUTING],
]

/** Prints needs, decision and judgement of three scenarios. */
export function demonstrateDecisionMaking(print: (line: string) => void): void {
  for (const [name, requirements] of SCENARIOS) {
    const decision = SharedSpaceDecisionMaker(requirements)
    const { valid, warnings } = validateDecision(requirements, decision)
    print(`== ${name}`)
    print(`needs: ${JSON.stringify(requirements)}`)
    print(`decision: ${decision.recommendation} (${decision.reason})`)
    print(valid ? 'valid' : 'not valid')
    for (const warning of warnings) print(`warning: ${warning}`)
  }
}
