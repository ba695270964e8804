import type { Caller } from '../../server/access/callers.ts'
import {
  createWebhooks,
  type DeliveryRecord,
  type WebhookRecord,
  type Webhooks,
} from '../../webhooks/webhooks.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { openExecutionAccess } from '../../runtime/execution-access.ts'
import { openRecordShelf } from '../../core/records/record-store.ts'
import { WEBHOOKS, WebhookShelves } from '../../webhooks/webhook-store.ts'
import { withStores, type CoreOptions } from '../core-stores.ts'
import { renderTable } from '../table.ts'
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
  const record = await withWebhooks(options, terminal, (webhooks, caller) =>
    webhooks.add(caller, {
      url,
      types,
      retry: {
        ...(attempts === undefined ? {} : { attempts }),
        ...(delay === undefined ? {} : { firstDelayMs: delay }),
      },
    }),
  )
  if (options.json === true) {
    terminal.answer(`${JSON.stringify(record, undefined, 2)}\n`)
    return
  }
  terminal.say('deliveries are signed with this secret, shown this once:\n')
  terminal.answer(`${record.id} ${record.secret}\n`)
}

export async function listWebhooks(options: WebhookOptions, terminal: Terminal): Promise<void> {
  const records = await withWebhooks(options, terminal, (webhooks, caller) => webhooks.list(caller))
  if (options.json === true) {
    terminal.answer(`${JSON.stringify(records, undefined, 2)}\n`)
    return
  }
  const rows = records.map(({ id, url, types }) => [id, types.join(' '), url])
  terminal.answer(renderTable([['ID', 'TYPES', 'ADDRESS'], ...rows]))
}

export async function removeWebhook(id: string, options: WebhookOptions, terminal: Terminal): Promise<void> {
  await withWebhooks(options, terminal, (webhooks, caller) => webhooks.remove(caller, id))
  terminal.answer(`removed ${id}\n`)
}

export async function listDead(id: string, options: WebhookOptions, terminal: Terminal): Promise<void> {
  const dead = await withWebhooks(options, terminal, async (webhooks, caller) => {
    const all: DeliveryRecord[] = []
    for (let after: string | undefined; ;) {
      const limit = STORE_PAGE_MAX_ENTRIES
      const page = await webhooks.dead(caller, id, { limit, ...(after === undefined ? {} : { after }) })
      all.push(...page.deliveries)
      after = page.next
      if (after === undefined) return all
    }
  })
  if (options.json === true) {
    terminal.answer(`${JSON.stringify(dead, undefined, 2)}\n`)
    return
  }
  const rows = dead.map(({ id: delivery, eventType, attempts, lastProblem }) => [
    delivery,
    eventType,
    String(attempts),
    lastProblem ?? '',
  ])
  terminal.answer(renderTable([['DELIVERY', 'TYPE', 'TRIES', 'LAST PROBLEM'], ...rows]))
}

/** Without a delivery all dead ones of the webhook are sent again. */
export async function redeliver(
  id: string,
  delivery: string | undefined,
  options: WebhookOptions,
  terminal: Terminal,
): Promise<void> {
  const count = await withWebhooks(options, terminal, async (webhooks, caller) => {
    if (delivery !== undefined) {
      await webhooks.redeliver(caller, id, delivery)
      return 1
    }
    for (let sum = 0; ;) {
      const { redelivered, more } = await webhooks.redeliverAll(caller, id)
      sum += redelivered
      if (!more) return sum
    }
  })
  terminal.answer(`${count} to be delivered again\n`)
}

function withWebhooks<T>(
  options: WebhookOptions,
  terminal: Terminal,
  work: (webhooks: Webhooks, caller: Caller) => Promise<T>,
): Promise<T> {
  return withStores(options, terminal, ({ store }) => {
    const webhooks = createWebhooks({
      records: openRecordShelf<WebhookRecord>(store, WEBHOOKS),
      deliveries: new WebhookShelves<DeliveryRecord>(store, 'cli'),
      compilePattern: openExecutionAccess({ store, logger: silentLogger }).compilePattern,
    })
    // Whoever reads the data's directory needs no token: it is theirs already.
    return work(webhooks, { name: 'cli', tenant: options.tenant, role: 'operator' })
  })
}
