/** Webhooks over HTTP. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { requireRight } from '../access/callers.ts'
import type { DeliveryRecord, WebhookRecord } from '../../webhooks/records.ts'
import type { NewWebhook } from '../../webhooks/subscriptions/read-new-webhook.ts'
import type { KnownWebhook, TenantWebhooks } from '../../webhooks/subscriptions/tenant-webhooks.ts'
import type { Webhooks } from '../../webhooks/webhooks.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { readJsonBody } from './read-body.ts'
import { once, readFields, readIdempotencyKey, readQuery, wholeNumber } from './read-request.ts'

export function addWebhookRoutes(app: Hono<HttpEnvironment>, webhooks: Pick<Webhooks, 'ofTenant'>): void {
  const open = (asked: Asked): TenantWebhooks => {
    const caller = asked.get('caller')
    requireRight(caller, 'manage webhooks')
    return webhooks.ofTenant(caller.tenant)
  }
  const idOf = (asked: Asked): string => asked.req.param('webhook') ?? ''

  app.post('/webhooks', async (asked) => {
    readQuery(asked.req.url, {})
    const wanted = readNewWebhook(await readJsonBody(asked.req.raw))
    const key = readIdempotencyKey(asked.req.header('idempotency-key'))
    const outcome =
      key === undefined ? { added: await open(asked).add(wanted) } : await open(asked).addOnce(wanted, key)
    return 'added' in outcome
      ? asked.json(showNewWebhook(outcome.added), 201)
      : asked.json(showWebhook(outcome.known))
  })
  app.get('/webhooks', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json({ webhooks: (await open(asked).list()).map(showWebhook) })
  })
  app.get('/webhooks/:webhook', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json(showWebhook(await open(asked).show(idOf(asked))))
  })
  app.delete('/webhooks/:webhook', async (asked) => {
    readQuery(asked.req.url, {})
    await open(asked).remove(idOf(asked))
    return asked.body(null, 204)
  })
  app.get('/webhooks/:webhook/dead-deliveries', async (asked) => {
    const { after, limit = API_PAGE_EVENTS } = readQuery(asked.req.url, {
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
    })
    const page = await open(asked).dead(idOf(asked), { limit, after })
    return asked.json({
      deliveries: page.deliveries.map(showDead),
      ...(page.next === undefined ? {} : { next_after: page.next }),
    })
  })
  app.post('/webhooks/:webhook/dead-deliveries/:delivery/redeliver', async (asked) => {
    readQuery(asked.req.url, {})
    await open(asked).redeliver(idOf(asked), asked.req.param('delivery'))
    return asked.body(null, 204)
  })
  app.post('/webhooks/:webhook/redeliver', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json(await open(asked).redeliverAll(idOf(asked)))
  })
}

const NEW_WEBHOOK = z.strictObject({
  url: z.string(),
  types: z.array(z.string()),
  retry: z
    .strictObject({ attempts: z.number().optional(), first_delay_ms: z.number().optional() })
    .optional(),
})

function readNewWebhook(body: unknown): NewWebhook {
  const { url, types, retry = {} } = readFields('the webhook', NEW_WEBHOOK, body)
  const { attempts, first_delay_ms: firstDelayMs } = retry
  return { url, types, retry: defined({ attempts, firstDelayMs }) }
}

function showNewWebhook(record: WebhookRecord): object {
  return { ...showWebhook(record), secret: record.secret }
}

function showWebhook({ id, url, types, retry, createdAt, overflow }: KnownWebhook): object {
  return {
    id,
    url,
    types,
    retry: { attempts: retry.attempts, first_delay_ms: retry.firstDelayMs },
    created_at: createdAt,
    ...defined({ overflow }),
  }
}

/** Without the body that was to be sent: the event can be read from its execution. */
function showDead({ id, executionId, eventType, attempts, lastProblem, gaveUpAt }: DeliveryRecord): object {
  return {
    id,
    execution_id: executionId,
    event_type: eventType,
    attempts,
    last_problem: lastProblem,
    gave_up_at: gaveUpAt,
  }
}
