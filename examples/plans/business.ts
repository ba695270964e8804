// Plans of a business: what runs beside what, and what must have happened before.
import { Plan } from 'perago/engine'
import { finishAnyway } from './finish.ts'

export interface Ran {
  /** The tasks that completed, by order. */
  readonly layers: string[][]
  /** What each handler got beside plan id and task id. */
  readonly received: Readonly<Record<string, unknown[]>>
  readonly status: string
}

type Layer = Readonly<Record<string, readonly unknown[]>>

/** Runs layers of tasks with their arguments; `fails` names a task that finds something wrong. */
async function runLayers(planId: string, layers: readonly Layer[], fails?: string): Promise<Ran> {
  const plan = new Plan(planId)
  const received: Record<string, unknown[]> = {}
  const ran: string[][] = layers.map(() => [])
  for (const [index, layer] of layers.entries())
    for (const [id, args] of Object.entries(layer))
      plan.Add(
        id,
        index + 1,
        (_plan_id: string, task_id: string, ...given: unknown[]) => {
          if (task_id === fails) throw new Error(`${task_id} said no`)
          received[task_id] = given
          ran[index]?.push(task_id)
        },
        ...args,
      )
  const { result } = await finishAnyway(plan, () => plan.Status().plan)
  return { layers: ran, received, status: result }
}

function layer(...ids: readonly string[]): Layer {
  return Object.fromEntries(ids.map((id) => [id, []]))
}

export function DataPipeline(): Promise<Ran> {
  return runLayers('data-etl-pipeline', [
    { 'extract-mysql': ['mysql'], 'extract-api': ['api'], 'extract-file': ['file'] },
    layer('clean-user-data', 'transform-format'),
    layer('load-warehouse'),
  ])
}

export function OrderProcessing(id: string, fails?: string): Promise<Ran> {
  const layers = [
    layer('validate-inventory', 'validate-customer', 'validate-payment'),
    layer('reserve-inventory', 'calculate-shipping'),
    layer('process-payment', 'create-shipment'),
    layer('send-confirmation', 'update-analytics'),
  ]
  return runLayers(`order-${id}`, layers, fails)
}

/** The order program with events: each handler is called once. */
export async function OrderProcessingWithEvents(): Promise<{ heard: unknown[][]; layers: string[][] }> {
  const plan = new Plan('order-with-events')
  const heard: unknown[][] = []
  const layers: string[][] = [[], []]
  for (const key of ['payment_result', 'inventory_reserved'])
    plan.Subscribe(key, (_plan_id: string, changed: string, data: unknown) => heard.push([changed, data]))
  const add = (id: string, order: number, work: () => void = () => undefined): void =>
    plan.Add(id, order, () => {
      layers[order - 1]?.push(id)
      work()
    })
  add('validate-payment', 1)
  add('validate-inventory', 1)
  add('process-payment', 2, () => plan.Set('payment_result', 'paid'))
  add('reserve-inventory', 2, () => plan.Set('inventory_reserved', true))
  // Read before the release, which tells the subscribers that the values are gone.
  const { result } = await finishAnyway(plan, () => [...heard])
  return { heard: result, layers }
}

/** Five steps for each image; resizing and compressing are one order. */
export function BatchImageProcessing(count: number): Promise<Ran> {
  const images = Array.from({ length: count }, (_, index) => `image-${index + 1}`)
  const each = (step: string, ...args: unknown[]): Layer =>
    Object.fromEntries(images.map((image) => [`${step}-${image}`, [image, ...args]]))
  return runLayers('batch-image-process', [
    each('upload'),
    { ...each('resize', 800, 600), ...each('compress', 80) },
    each('move', 'permanent'),
    each('update-database'),
  ])
}

export function MonthlyReportGeneration(year: number, month: number): Promise<Ran> {
  const dated = (...ids: readonly string[]): Layer => Object.fromEntries(ids.map((id) => [id, [year, month]]))
  return runLayers(`monthly-report-${year}-${month}`, [
    dated('collect-sales', 'collect-customers', 'collect-products', 'collect-marketing'),
    dated('process-sales', 'process-customers', 'process-products'),
    dated('aggregate-summary', 'generate-charts'),
    dated('generate-pdf', 'send-stakeholders'),
  ])
}

/** Seeding needs the migrated tables, so it has an order of its own. */
export function SystemInitialization(): Promise<Ran> {
  return runLayers('system-init', [
    layer('check-database', 'check-redis', 'check-storage'),
    layer('migrate-database'),
    layer('seed-database'),
    layer('warm-cache', 'build-search-index'),
    layer('health-check', 'notify-ready'),
  ])
}

export function ContentPublishing(id: string, fails?: string): Promise<Ran> {
  const layers = [
    layer('check-spelling', 'check-plagiarism', 'validate-content'),
    layer('generate-excerpt', 'generate-tags', 'optimise-seo'),
    layer('moderator-review', 'quality-check'),
    layer('publish-web', 'publish-mobile', 'notify-subscribers'),
  ]
  return runLayers(`content-${id}`, layers, fails)
}
