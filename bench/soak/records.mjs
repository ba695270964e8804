// What the soak begins with: executions, tokens, and a long log to scan; and at its end, what is really there.
import { openCore } from '../../dist/perago-core.js'
import { openTokens } from '../../dist/server/access/tokens.js'
import { openSqliteStore } from '../../dist/stores/sqlite.js'

const LONG_LOG_EVENTS = 13_000
const IN_ONE_BATCH = 100

export async function prepare(file, callersPerTenant) {
  const store = openSqliteStore({ file })
  try {
    const tokens = openTokens(store)
    const token = async (name, role, tenant) => (await tokens.create({ name, role, tenant })).token
    const callers = []
    for (const tenant of ['north', 'south']) {
      const core = openCore({ store, tenant, outbox: true })
      for (let number = 0; number < callersPerTenant; number++) {
        const execution = `good_${number}`
        await core.startExecution({ id: execution, name: 'good' })
        callers.push({ tenant, execution, token: await token(`good ${number}`, 'operator', tenant) })
      }
    }
    const south = openCore({ store, tenant: 'south', outbox: true })
    await south.startExecution({ id: 'noisy', name: 'noisy' })
    // Without the outbox, in which so many would keep the webhooks waiting at first.
    const long = await openCore({ store, tenant: 'south' }).startExecution({ id: 'long', name: 'long' })
    for (let at = 0; at < LONG_LOG_EVENTS; at += IN_ONE_BATCH) {
      await Promise.all(
        Array.from({ length: IN_ONE_BATCH }, (_, index) =>
          long.events.publish({
            type: 'external.long.entry',
            source: { entityType: 'external', entityId: 'soak' },
            payload: { number: at + index },
          }),
        ),
      )
    }
    return {
      callers,
      follower: await token('followers', 'viewer', 'south'),
      scanner: await token('scanner', 'viewer', 'south'),
      poster: await token('poster', 'operator', 'south'),
    }
  } finally {
    await store.close()
  }
}

/** How many of the acknowledged events are not in their logs. */
export async function readBack(file, acknowledged) {
  const store = openSqliteStore({ file })
  try {
    const logs = new Map()
    let lost = 0
    for (const { tenant, execution, id } of acknowledged) {
      const name = `${tenant} ${execution}`
      if (!logs.has(name)) logs.set(name, await readIds(openCore({ store, tenant }), execution))
      if (!logs.get(name).has(id)) lost++
    }
    return lost
  } finally {
    await store.close()
  }
}

async function readIds(core, execution) {
  const { events } = await core.openExecution(execution)
  const ids = new Set()
  for (let after; ;) {
    const page = await events.queryPage({ after })
    for (const { id } of page.events) ids.add(id)
    if (page.next === undefined) return ids
    after = page.next
  }
}
