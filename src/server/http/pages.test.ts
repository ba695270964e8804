// Goal: what one request may make the server read is bounded, and whoever follows the pages to their end gets everything.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { externalEvent } from '../../../test/support/core-world.ts'
import { EVENT_PAGE_MAX_EVENTS } from '../../core/limits.ts'

let world: DoorWorld
let token: string

beforeEach(async () => {
  world = openDoorWorld()
  token = await world.tokenFor('operator')
})
afterEach(() => world.close())

interface Page {
  readonly events: readonly { readonly sequence: number }[]
  readonly variables: readonly { readonly name: string }[]
  readonly next_after?: number | string
}

/** Every page, up to the one that names no next. */
async function readAll(path: string): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let after = ''; ;) {
    const response = await world.ask(`${path}${after}`, { token })
    expect(response.status).toBe(200)
    const page = (await response.json()) as Page
    pages.push(page)
    if (page.next_after === undefined) return pages
    after = `&after=${encodeURIComponent(page.next_after)}`
  }
}

describe('events', () => {
  test('DO-90 a query that finds nothing in a long log answers empty pages that say where to go on', async () => {
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const count = EVENT_PAGE_MAX_EVENTS + 700
    for (let at = 0; at < count; at += 100)
      await Promise.all(
        Array.from({ length: 100 }, () => execution.events.publish(externalEvent('external.often'))),
      )
    await execution.events.publish(externalEvent('external.rare'))
    const nothing = await readAll('/executions/exec_1/events?type=none.completed')
    expect(nothing).toEqual([{ events: [], next_after: EVENT_PAGE_MAX_EVENTS }, { events: [] }])
    const rare = await readAll('/executions/exec_1/events?type=*.rare')
    expect(rare.map(({ events }) => events.map(({ sequence }) => sequence))).toEqual([[], [count + 2]])
    const back = await readAll('/executions/exec_1/events?type=pipeline.*&order=descending')
    expect(back.map(({ events }) => events.map(({ sequence }) => sequence))).toEqual([[], [1]])
  })
})

describe('variables', () => {
  test('DO-91 the variables of an execution are listed by page, whole or below a prefix', async () => {
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    for (let n = 0; n < 120; n += 1) await execution.variables.set(`shared.n${String(n)}`, n)
    const names = Object.keys(await execution.variables.list())
    const path = '/executions/exec_1/variables'
    const all = await readAll(`${path}?`)
    expect(all.map(({ variables }) => variables.length)).toEqual([100, 22])
    expect(all.flatMap(({ variables }) => variables.map(({ name }) => name))).toEqual(names)
    const some = await readAll(`${path}?prefix=shared.n1&limit=9`)
    expect(some.flatMap(({ variables }) => variables.map(({ name }) => name))).toEqual(
      names.filter((name) => name.startsWith('shared.n1')),
    )
  })

  test.each(['limit=0', 'limit=1001', 'after=n', 'prefix=a%20b', 'limit=1&limit=2'])(
    'DO-22 a page of variables with %s is refused',
    async (query) => {
      await world.core.startExecution({ id: 'exec_1', name: 'etl' })
      expect((await world.ask(`/executions/exec_1/variables?${query}`, { token })).status).toBe(400)
    },
  )
})
