import type { DeliveryRecord } from '../../webhooks/records.ts'
import type { TenantWebhooks } from '../../webhooks/subscriptions/tenant-webhooks.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { defined } from '../../base/defined.ts'
import { withHost } from '../core-stores.ts'
import type { CoreOptions } from '../store-options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface WebhookOptions extends CoreOptions {
  readonly tenant?: string
}

export interface AddWebhookOptions extends WebhookOptions {
  readonly type: readonly string[]
  readonly attempts?: number
  /** In milliseconds. */
  readonly delay?: number
}

export async function addWebhook(url: string, options: AddWebhookOptions, terminal: Terminal): Promise<void> {
  const { type: types, attempts, delay } = options
  const record = await withWebhooks(options, terminal, (webhooks) =>
    webhooks.add({
      url,
      types,
      retry: defined({ attempts, firstDelayMs: delay }),
    }),
  )
  if (options.json !== true) terminal.say('deliveries are signed with this secret, shown this once:\n')
  answer(terminal, options, record, () => `${record.id} ${record.secret}\n`)
}

export async function listWebhooks(options: WebhookOptions, terminal: Terminal): Promise<void> {
  const records = await withWebhooks(options, terminal, (webhooks) => webhooks.list())
  answer(terminal, options, records, () => {
    const rows = records.map(({ id, url, types }) => [id, types.join(' '), url])
    return renderTable([['ID', 'TYPES', 'ADDRESS'], ...rows])
  })
  if (options.json === true) return
  for (const { id, overflow } of records)
    if (overflow !== undefined)
      terminal.say(`${id}: ${overflow.problem}; further ones are dead at once since ${overflow.since}\n`)
}

export async function removeWebhook(id: string, options: WebhookOptions, terminal: Terminal): Promise<void> {
  await withWebhooks(options, terminal, (webhooks) => webhooks.remove(id))
  terminal.answer(`removed ${id}\n`)
}

export async function listDead(id: string, options: WebhookOptions, terminal: Terminal): Promise<void> {
  const dead = await withWebhooks(options, terminal, async (webhooks) => {
    const all: DeliveryRecord[] = []
    for (let after: string | undefined; ;) {
      const page = await webhooks.dead(id, { limit: STORE_PAGE_MAX_ENTRIES, after })
      all.push(...page.deliveries)
      after = page.next
      if (after === undefined) return all
    }
  })
  answer(terminal, options, dead, () => {
    const rows = dead.map(({ id: delivery, eventType, attempts, lastProblem }) => [
      delivery,
      eventType,
      String(attempts),
      lastProblem ?? '',
    ])
    return renderTable([['DELIVERY', 'TYPE', 'TRIES', 'LAST PROBLEM'], ...rows])
  })
}

/** Without a delivery all dead ones of the webhook are sent again. */
export async function redeliver(
  id: string,
  delivery: string | undefined,
  options: WebhookOptions,
  terminal: Terminal,
): Promise<void> {
  const { count, left } = await withWebhooks(options, terminal, async (webhooks) => {
    if (delivery !== undefined) {
      await webhooks.redeliver(id, delivery)
      return { count: 1, left: false }
    }
    for (let sum = 0; ;) {
      const { redelivered, more } = await webhooks.redeliverAll(id)
      sum += redelivered
      if (!more || redelivered === 0) return { count: sum, left: more }
    }
  })
  terminal.answer(`${count} to be delivered again\n`)
  if (left) terminal.say('more are dead: try again when fewer deliveries wait for this webhook\n')
}

function withWebhooks<T>(
  { tenant, ...options }: WebhookOptions,
  terminal: Terminal,
  work: (webhooks: TenantWebhooks) => Promise<T>,
): Promise<T> {
  return withHost(options, terminal, ({ webhooks }) => work(webhooks.ofTenant(tenant)))
}
