// Goal: who operates a machine sees its workers and its store, on a desk and on a telephone.
// Method: a real Chromium over `perago dev`, whose worker runs an attempt that waits, and is killed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000

test(
  'WB-70 a worker is shown with its attempt and lease, and what failed; the store with its size; nothing is too wide',
  async (context) => {
    const { pageUrl, start, ended, at, killWorker } = await openPageWorld()
    expect(await ended(await start('never'))).toBe('FAILED')
    const gate = at('gate')
    const id = await start('2026-01-15', gate)
    const { page } = await openPage(await browser(context), pageUrl)
    await page.evaluate(`location.hash = '#/operations'`)
    const workers = page.getByRole('region', { name: 'Table of workers' })
    await workers.getByText('1 of 4').waitFor()
    expect(await workers.getByRole('rowheader').count()).toBe(1)
    await workers.getByText('running').waitFor()
    const attempts = page.getByRole('region', { name: 'Attempts of worker 0' })
    await attempts.getByText(/^[\d.]+ m?s of 3\.0 s *$/).waitFor()
    await attempts.getByText('checks before the body').waitFor()
    // It goes on to be renewed, and is told so.
    await page.waitForTimeout(8_000)
    await attempts.getByText(/^[\d.]+ m?s of 3\.0 s *$/).waitFor()
    expect(await attempts.getByText('warn').count()).toBe(0)
    await page.getByText(/did not succeed lately/).click()
    await page
      .getByText(/there is no such day <script>/)
      .first()
      .waitFor()
    const store = page.getByRole('region', { name: 'Store', exact: true })
    await store.getByText(/^sqlite, .* [KM]iB$/).waitFor()
    await store.getByText(/ago: 0 executions swept/).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 400]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        expect([colorScheme, width, await findBarriers(page)]).toEqual([colorScheme, width, []])
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([width, overflow]).toEqual([width, 0])
        const shots = process.env['PERAGO_TEST_SHOTS']
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true })
          await page.screenshot({
            path: `${shots}/operations-${colorScheme}-${String(width)}.png`,
            fullPage: true,
          })
        }
      }
    }
    await attempts.getByRole('link').click()
    await page.waitForURL(new RegExp(`#/runs/${id}/tasks/`))
    killWorker()
    await page.goBack()
    // Its successor has the same number, and nothing in progress until it is given the task again.
    await attempts.waitFor({ state: 'detached' })
    writeFileSync(gate, '')
    expect(await ended(id)).toBe('COMPLETED')
  },
  TEST_MS,
)

test(
  'WB-71 without a worker the page says how to start one; one that is gone is not shown as running',
  async (context) => {
    const { pageUrl } = await openPageWorld()
    const { page } = await openPage(await browser(context), pageUrl)
    let gone = false
    await page.route('**/workers', async (route) => {
      const answer = (await (await route.fetch()).json()) as { workers: object[] }
      const workers = gone ? answer.workers.map((worker) => ({ ...worker, state: 'gone' })) : []
      await route.fulfill({ json: { ...answer, workers } })
    })
    await page.evaluate(`location.hash = '#/operations'`)
    await page.getByText('No worker runs below the root').waitFor()
    await page.getByText('npx perago start tasks.ts').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    gone = true
    const workers = page.getByRole('region', { name: 'Table of workers' })
    await workers.getByText('gone').waitFor()
    expect(await workers.getByText('running').count()).toBe(0)
  },
  TEST_MS,
)

test(
  'WB-94 the registered pipelines are shown with their schedules, which are paused and resumed, and how to start them',
  async (context) => {
    const { pageUrl, url } = await openPageWorld()
    const nightly = { name: 'shop.nightly', units: { sign: { human: {} } } }
    const registered = await fetch(`${url}/pipelines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...nightly, schedules: { late: { cron: '30 2 * * *' } } }),
    })
    expect(registered.status).toBeLessThan(300)
    const { page } = await openPage(await browser(context), pageUrl)
    await page.getByRole('link', { name: 'Executions' }).click()
    await page.getByRole('main').getByRole('link', { name: 'pipeline', exact: true }).click()
    const table = page.getByRole('region', { name: 'Table of pipelines' })
    const row = table.getByRole('row', { name: /^shop\.nightly/ })
    await row.getByText('30 2 * * *').waitFor()
    await row.getByText('npx perago workflow start shop.nightly').waitFor()
    expect(await table.getByRole('row', { name: /^shop\.daily/ }).textContent()).toContain('none')
    for (const [act, state] of [
      ['Pause', 'paused'],
      ['Resume', 'active'],
    ] as const) {
      await row.getByRole('button', { name: act }).click()
      await page.getByRole('dialog').getByRole('button', { name: act, exact: true }).click()
      await row.getByText(state).waitFor()
    }
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await findBarriers(page)]).toEqual([width, []])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    }
    await row.getByRole('link', { name: 'shop.nightly' }).click()
    await page.waitForURL(`${url}/#/executions?name=shop.nightly`)
  },
  TEST_MS,
)
