// Goal: a person sees in a browser what the units of an execution share, who sets and uses it, and who does not.
// Method: a real Chromium over `perago dev`, and over a server whose executions a program keeps.
import { expect, onTestFinished, test } from 'vitest'
import { BUILT_PAGE } from '../../src/server/http/page-routes.ts'
import { serveWorld } from '../support/doors/serve.ts'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { see } from '../support/page/see.ts'
import { openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000

const CHILD = { name: 'shop.part', units: { stamp: { set: { at: 'noon' } }, sign: { human: {} } } }
const COUNT = {
  name: 'shop.count',
  units: {
    keep: { set: { rows: 7, note: { by: 'Anna' } } },
    part: { pipeline: 'shop.part', after: ['keep'] },
    hold: { human: {}, onlyIf: 'shared.rows > 3', after: ['part'] },
    late: { set: { total: '${workflow.variables.rows}' }, after: ['hold'] },
  },
  output: { total: '${workflow.variables.total}' },
}

test(
  'WB-84 WB-85 what units share stands on a side of its own, with its writer, its sharers, and who has another space',
  async (context) => {
    const world = await openPageWorld()
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${world.url}${path}`, {
        ...{ method: 'POST', headers },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as { execution_id: string }
    }
    await post('/pipelines', CHILD)
    const { execution_id: id } = await post('/executions', { definition: COUNT })
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/executions/${id}`)
    await page.getByRole('link', { name: 'Shared', exact: true }).click()
    await page.getByRole('heading', { name: 'Shared by the units of this execution' }).waitFor()
    const table = page.getByRole('region', { name: 'Table of shared values' })
    const rows = table.getByRole('row', { name: /^shared\.rows 7 / })
    await rows.getByText('by keep').waitFor()
    expect(await rows.locator('time').count()).toBe(1)
    expect(await rows.getByRole('link').allTextContents()).toEqual(['shared.rows', 'keep', 'hold', 'late'])
    const total = table.getByRole('row', { name: /^shared\.total / })
    await total.getByText('not set yet').waitFor()
    await total.getByText('the output').waitFor()
    await see(page, 'shared')
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await findBarriers(page)]).toEqual([width, []])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await table.getByRole('link', { name: 'shared.note' }).click()
    const chosen = page.getByRole('region', { name: 'Variable shared.note' })
    await chosen.getByText('Anna').first().waitFor()
    await chosen.getByRole('list', { name: 'What was written, the latest first' }).waitFor()
    expect(page.url()).toBe(`${world.url}/#/executions/${id}/shared?name=shared.note`)

    // Nobody outside shares it: neither other executions of the pipeline, nor what runs as a unit.
    const others = page.getByRole('link', { name: 'Other executions of shop.count' })
    expect(await others.getAttribute('href')).toBe('#/executions?name=shop.count')
    await rows.getByRole('link', { name: 'keep' }).click()
    await page.getByRole('heading', { name: /^Unit keep/ }).waitFor()
    await page.goto(`${world.url}/#/executions/${id}/units/part`)
    await page.getByRole('link', { name: /^the execution / }).click()
    await page.getByRole('link', { name: 'Shared', exact: true }).click()
    await table.getByRole('row', { name: /^shared\.at "noon"/ }).waitFor()
    expect(await table.getByRole('row').count()).toBe(2)
    await page.getByRole('link', { name: 'the execution that runs it' }).click()
    await page.waitForURL(`${world.url}/#/executions/${id}/shared`)
    await rows.waitFor()

    const nothing = await world.start('2026-01-15')
    await page.goto(`${world.url}/#/executions/${nothing}/shared`)
    await page.getByText('The units of shop.daily share nothing.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await world.ended(nothing)).toBe('COMPLETED')
  },
  TEST_MS,
)

test(
  'WB-86 an execution that a program keeps, such as the space of a plan, is opened by its id: events, variables, shared',
  async (context) => {
    const served = await serveWorld({ page: { files: BUILT_PAGE } })
    onTestFinished(() => served.close())
    const { world, door, token } = served
    const execution = await world.core.startExecution({ id: 'plan_1', name: 'report' })
    await execution.variables.set('shared.sales', [3, 4])
    await execution.node('count').events.publish('count.completed')
    const { page } = await openPage(await browser(context), door.url, { expected: /status of 40[14]/ })
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('link', { name: 'Executions' }).click()
    await page.getByLabel('Open by id').fill('plan_1')
    await page.getByLabel('Open by id').press('Enter')
    await page.getByText('A program keeps it with perago/core').waitFor()
    const sides = page.getByRole('navigation', { name: 'Sides' })
    expect(await sides.getByRole('link').allTextContents()).toEqual(['Events', 'Variables', 'Shared'])
    await page.getByText('count.completed').waitFor()
    await sides.getByRole('link', { name: 'Shared' }).click()
    await page
      .getByRole('region', { name: 'Table of shared values' })
      .getByText('by the engine or a program')
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
    await execution.finish({ status: 'completed' })
    await page.goto(`${door.url}/#/executions/nowhere`)
    await page.getByText('no-such-execution').waitFor()
  },
  TEST_MS,
)
