/** Messages to webhooks about executions that are swept: those that wait, and those that could not be delivered. */

import { STORE_PAGE_MAX_ENTRIES } from '../core/limits.ts'
import { serverPrefix } from '../core/keys.ts'
import type { MaintainedExecution } from '../core/life-cycle/maintenance.ts'
import type { Store } from '../core/ports.ts'
import { openRecordShelf } from '../core/records/record-store.ts'

/** The shelves of `webhook-shelves.ts`; on each a delivery's key begins with its webhook's id. */
const SHELVES = ['deliveries', 'dead-deliveries'] as const

interface KnownWebhook {
  readonly id: string
  readonly tenant?: string
}

/** Reads what the webhooks of these executions' tenants have, once for all of the executions. May be called again. */
export async function forgetDeliveries(
  store: Store,
  executions: readonly MaintainedExecution[],
): Promise<void> {
  const webhooks = await openRecordShelf<KnownWebhook>(store, 'webhooks').list()
  for (const { id, tenant } of webhooks) {
    const swept = new Set<string>(
      executions.filter((place) => place.tenant === tenant).map(({ execution }) => execution),
    )
    if (swept.size === 0) continue
    for (const shelf of SHELVES) await forgetOf(store, `${serverPrefix(shelf)}${id}-`, swept)
  }
}

async function forgetOf(store: Store, prefix: string, swept: ReadonlySet<string>): Promise<void> {
  let after: string | undefined
  do {
    const range = { prefix, limit: STORE_PAGE_MAX_ENTRIES }
    const page = await store.range(after === undefined ? range : { ...range, after })
    for (const { key, value, revision } of page.entries) {
      if (!swept.has(executionOf(value) ?? '')) continue
      // Where it has changed meanwhile it is being delivered, and ends by itself.
      await store.commit({
        conditions: [{ key, is: 'at', revision }],
        operations: [{ do: 'delete', key }],
      })
    }
    after = page.next
  } while (after !== undefined)
}

/** A delivery holds what is sent, and that names its execution. */
function executionOf(value: Uint8Array): string | undefined {
  const { body } = JSON.parse(new TextDecoder().decode(value)) as { readonly body?: unknown }
  if (typeof body !== 'string') return undefined
  const { execution_id: execution } = JSON.parse(body) as { readonly execution_id?: unknown }
  return typeof execution === 'string' ? execution : undefined
}
