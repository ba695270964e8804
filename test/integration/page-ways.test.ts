// Goal: from whatever needs a person one comes in one step to where it is acted upon.
// Method: a real Chromium over `perago dev`; a publication that a fence refuses, workers and webhooks in trouble, small graphs.
import { writeFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { MAIN, openPageWorld } from '../support/page/world.ts'
import { commitOf } from '../conformance/versioned-repo-cases/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000

test(
  'WB-77 from a run and a task that a fence refused, and from a branch, one comes to what may be done about it',
  async (context) => {
    const world = await openPageWorld()
    const gate = world.at('gate')
    const id = await world.start('2026-01-15', gate)
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/runs/${id}`)
    await page.getByRole('link', { name: /^load in progress/ }).waitFor()
    expect(await page.getByRole('link', { name: /Recover/ }).count()).toBe(0)
    // One commit above its input would be taken for an earlier attempt, and replaced.
    for (const text of ['of somebody else', 'again']) await commitOf(world.repo, MAIN, { 'orders.csv': text })
    writeFileSync(gate, '')
    expect(await world.ended(id)).toBe('FAILED')
    await page.getByText('fences/publish-refused').first().waitFor()
    const recovery = `${world.url}/#/operations/recover?repository=shop&workflow=${id}`
    for (const address of [`#/runs/${id}`, `#/runs/${id}/tasks`]) {
      await page.goto(`${world.url}/${address}`)
      if (address.endsWith('tasks')) await page.getByRole('link', { name: 'load' }).last().click()
      await page.getByRole('link', { name: 'Recover what it did to shop' }).click()
      await page.waitForURL(recovery)
      await page.getByRole('link', { name: 'load' }).waitFor()
      await page.getByText('fences/publish-refused').waitFor()
    }
    await page.goto(`${world.url}/#/data/shop/branches/main`)
    await page.getByRole('link', { name: 'Recover' }).click()
    await page.waitForURL(`${world.url}/#/operations/recover?repository=shop&branch=main`)
    // What perago keeps of refused work is no branch that anybody recovers.
    const branches = page.getByRole('table', { name: 'Staging branches' })
    await page.goto(`${world.url}/#/data/shop`)
    await page.getByText('Staging branches of tasks').click()
    await branches.getByRole('link', { name: /load/ }).first().click()
    await page.getByRole('heading', { name: /Staging of load/ }).waitFor()
    expect(await page.getByRole('link', { name: /^(Recover|Verify)/ }).count()).toBe(0)
  },
  TEST_MS,
)

const DAY_MS = 86_400_000

test(
  'WB-78 Now names workers that are silent or gone, and deliveries that were given up, with the way to act on each',
  async (context) => {
    const { pageUrl, url, start, at, ended } = await openPageWorld()
    const gate = at('gate')
    const id = await start('2026-01-15', gate)
    const { page } = await openPage(await browser(context), pageUrl)
    let changes: readonly object[] = []
    await page.route('**/workers', async (route) => {
      const answer = (await (await route.fetch()).json()) as { workers: object[] }
      const workers = changes.map((change, index) => ({
        ...answer.workers[0],
        ...{ index, worker_id: `worker-${String(index)}`, ...change },
      }))
      await route.fulfill({ json: { ...answer, workers } })
    })
    const webhook = {
      id: 'wh_1',
      url: 'https://example.org/hook',
      types: ['*.failed'],
      created_at: new Date(),
    }
    await page.route('**/webhooks', (route) => route.fulfill({ json: { webhooks: [webhook] } }))
    await page.route('**/dead-deliveries?*', (route) =>
      route.fulfill({
        json: {
          deliveries: [
            {
              ...{ id: 'd1', execution_id: 'x', event_type: 'a.failed', attempts: 9, last_problem: '503' },
              gave_up_at: new Date(),
            },
          ],
        },
      }),
    )
    changes = [
      { state: 'running' },
      { state: 'silent', pid: 17 },
      { state: 'gone', pid: 18, attempts: [], written_at: new Date() },
      { state: 'gone', pid: 19, written_at: new Date(Date.now() - 2 * DAY_MS) },
    ]
    await page.evaluate(`location.hash = '#/operations'`)
    await page.evaluate(`location.hash = '#/'`)
    const concerns = page.getByRole('region', { name: 'Needs a person' }).getByRole('listitem')
    const silent = concerns.filter({ hasText: 'Worker 1 is silent' })
    await silent.getByText(/Process 17 has written nothing since.* 1 attempt was in progress/).waitFor()
    await concerns
      .filter({ hasText: 'Worker 2 is gone' })
      .getByText(/start one: perago start/)
      .waitFor()
    expect(await concerns.filter({ hasText: /Worker [03]/ }).count()).toBe(0)
    const dead = concerns.filter({ hasText: webhook.url })
    await dead.getByText(/1 delivery was given up/).waitFor()
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await findBarriers(page)]).toEqual([width, []])
    }
    await page.setViewportSize({ width: 1280, height: 400 })
    await silent.getByRole('link').click()
    await page.waitForURL(`${url}/#/operations?at=workers`)
    await expectInSight(page.getByRole('heading', { name: 'Workers of this machine' }))
    await page.goBack()
    await dead.getByRole('link').click()
    await page.waitForURL(`${url}/#/operations?at=webhooks`)
    await expectInSight(page.getByRole('heading', { name: 'Webhooks' }))
    writeFileSync(gate, '')
    expect(await ended(id)).toBe('COMPLETED')
  },
  TEST_MS,
)

async function expectInSight(locator: Locator): Promise<void> {
  await locator.waitFor()
  const inSight = async () => {
    const { y, height } = (await locator.boundingBox()) ?? { y: -1, height: 0 }
    return y >= 0 && y + height <= (locator.page().viewportSize()?.height ?? 0)
  }
  await expect.poll(inSight, { timeout: 10_000 }).toBe(true)
}

const HEIGHTS = `['.graph-box', '.graph-box svg'].map((name) => document.querySelector(name).clientHeight)`

test(
  'WB-79 a small graph, and a branch of few commits, stand in a box that is as high as they are',
  async (context) => {
    const world = await openPageWorld()
    const id = await world.start('2026-01-15')
    expect(await world.ended(id)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    const heights = () => page.evaluate<readonly number[]>(HEIGHTS)
    for (const [address, width] of [
      [`runs/${id}`, 1280],
      [`executions/${id}`, 1280],
      [`executions/${id}`, 400],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${world.url}/#/${address}`)
      await page.reload()
      await page.getByRole('link', { name: /^load/ }).first().waitFor()
      // The graph is drawn by a part of the page that comes later.
      await page.locator('.graph-box svg').first().waitFor()
      const seen = [address, width]
      const [high = 0, drawn = 0] = await heights()
      expect([...seen, high >= drawn && high - drawn <= 20]).toEqual([...seen, true])
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await expect.poll(async () => (await heights())[1]).toBeGreaterThan(drawn)
      const [higher = 0, larger = 0] = await heights()
      expect([...seen, higher >= larger ? higher - larger <= 20 : higher >= 0.6 * 900]).toEqual([
        ...seen,
        true,
      ])
      await page.getByRole('button', { name: 'All' }).click()
      await expect.poll(async () => (await heights())[1]).toBe(drawn)
    }
    await page.goto(`${world.url}/#/data/shop/branches/main`)
    await page.getByRole('link', { name: /load, attempt 0/ }).waitFor()
    expect(await page.evaluate(`document.querySelector('.rows-box').clientHeight`)).toBe(4 * 54)
  },
  TEST_MS,
)

test(
  'WB-80 the lists of runs and of executions are narrowed by a text and by states, which stand in the address',
  async (context) => {
    const world = await openPageWorld()
    expect(await world.ended(await world.start('2026-01-15'))).toBe('COMPLETED')
    const failed = await world.start('closed')
    expect(await world.ended(failed)).toBe('FAILED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    for (const [view, title, field, name, none] of [
      ['runs', 'Runs', 'Search', 'search', 'No workflow is like this.'],
      ['executions', 'Executions', 'Pipeline', 'name', 'No execution is like this.'],
    ] as const) {
      await page.goto(`${world.url}/#/${view}`)
      const table = page.getByRole('table', { name: title })
      const links = table.getByRole('link', { name: 'shop.daily' })
      await expect.poll(() => links.count()).toBe(2)
      await page
        .getByRole('button', { name: /failed/ })
        .first()
        .click()
      await expect.poll(() => links.count()).toBe(1)
      await page.waitForURL(`${world.url}/#/${view}?state=FAILED`)
      await page.getByLabel(field).fill('nothing-of-this-name')
      await page.getByLabel(field).press('Enter')
      await page.getByText(none).waitFor()
      await page.waitForURL(`${world.url}/#/${view}?state=FAILED&${name}=nothing-of-this-name`)
      await page.reload()
      await page.getByText(none).waitFor()
      await page.getByRole('link', { name: 'Show all' }).click()
      await expect.poll(() => links.count()).toBe(2)
    }
  },
  TEST_MS,
)
