/** Webhooks over HTTP: what was asked is read, and what is answered is written, as the contract has it. */

import type { Context, Hono } from 'hono'
import { requireRight } from '../access/callers.ts'
import { BodyReader } from './read-fields.ts'
import type { DeliveryRecord, WebhookRecord } from '../../webhooks/records.ts'
import type { NewWebhook } from '../../webhooks/subscriptions/read-new-webhook.ts'
import type { KnownWebhook, TenantWebhooks } from '../../webhooks/subscriptions/tenant-webhooks.ts'
import type { Webhooks } from '../../webhooks/webhooks.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import type { HttpEnvironment } from './environment.ts'
import { Parameters, readIdempotencyKey, takeNoParameters } from './query-parameters.ts'
import { readJsonBody } from './read-body.ts'

type Asked = Context<HttpEnvironment>

export function addWebhookRoutes(app: Hono<HttpEnvironment>, webhooks: Pick<Webhooks, 'ofTenant'>): void {
  const open = (asked: Asked): TenantWebhooks => {
    const caller = asked.get('caller')
    requireRight(caller, 'manage webhooks')
    return webhooks.ofTenant(caller.tenant)
  }
  const idOf = (asked: Asked): string => asked.req.param('webhook') ?? ''

  app.post('/webhooks', async (asked) => {
    takeNoParameters(asked)
    const wanted = readNewWebhook(await readJsonBody(asked.req.raw))
    const key = readIdempotencyKey(asked)
    const outcome =
      key === undefined ? { added: await open(asked).add(wanted) } : await open(asked).addOnce(wanted, key)
    return 'added' in outcome
      ? asked.json(showNewWebhook(outcome.added), 201)
      : asked.json(showWebhook(outcome.known))
  })
  app.get('/webhooks', async (asked) => {
    takeNoParameters(asked)
    return asked.json({ webhooks: (await open(asked).list()).map(showWebhook) })
  })
  app.get('/webhooks/:webhook', async (asked) => {
    takeNoParameters(asked)
    return asked.json(showWebhook(await open(asked).show(idOf(asked))))
  })
  app.delete('/webhooks/:webhook', async (asked) => {
    takeNoParameters(asked)
    await open(asked).remove(idOf(asked))
    return asked.body(null, 204)
  })
  app.get('/webhooks/:webhook/dead-deliveries', async (asked) => {
    const given = new Parameters(asked.req.url, ['after', 'limit'])
    const after = given.text('after')
    const limit = given.whole('limit', { least: 1, most: API_PAGE_MAX_EVENTS }) ?? API_PAGE_EVENTS
    const page = await open(asked).dead(idOf(asked), {
      limit,
      ...(after === undefined ? {} : { after }),
    })
    return asked.json({
      deliveries: page.deliveries.map(showDead),
      ...(page.next === undefined ? {} : { next_after: page.next }),
    })
  })
  app.post('/webhooks/:webhook/dead-deliveries/:delivery/redeliver', async (asked) => {
    takeNoParameters(asked)
    await open(asked).redeliver(idOf(asked), asked.req.param('delivery'))
    return asked.body(null, 204)
  })
  app.post('/webhooks/:webhook/redeliver', async (asked) => {
    takeNoParameters(asked)
    return asked.json(await open(asked).redeliverAll(idOf(asked)))
  })
}

function readNewWebhook(body: unknown): NewWebhook {
  const fields = new BodyReader('the webhook', body, ['url', 'types', 'retry'])
  const [url, types] = [fields.text('url'), fields.texts('types')]
  if (!fields.has('retry')) return { url, types }
  const retry = new BodyReader('"retry"', fields.object('retry'), ['attempts', 'first_delay_ms'])
  const [attempts, firstDelayMs] = [retry.number('attempts'), retry.number('first_delay_ms')]
  return {
    url,
    types,
    retry: {
      ...(attempts === undefined ? {} : { attempts }),
      ...(firstDelayMs === undefined ? {} : { firstDelayMs }),
    },
  }
}

function showNewWebhook(record: WebhookRecord): object {
  return { ...showWebhook(record), secret: record.secret }
}

function showWebhook({ id, url, types, retry, createdAt }: KnownWebhook): object {
  return {
    id,
    url,
    types,
    retry: { attempts: retry.attempts, first_delay_ms: retry.firstDelayMs },
    created_at: createdAt,
  }
}

/** Without what was to be sent: that is read where the execution is. */
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
