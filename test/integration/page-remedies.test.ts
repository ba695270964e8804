// Goal: where an execution failed, its view leads to what may be done about it, as that of its run does.
// Method: a real Chromium over `perago dev`; a publication that a fence refuses, and a body that fails.
import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { commitOf } from '../conformance/versioned-repo-cases/world.ts'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { MAIN, openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000

test(
  'WB-87 a failed execution, its run, its unit and its task lead to recovery, verification and the checks of the server',
  async (context) => {
    const world = await openPageWorld()
    const gate = world.at('gate')
    const id = await world.start('2026-01-15', gate)
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    const open = (address: string) => page.goto(`${world.url}/#/${address}`)
    const remedies = page.getByRole('navigation', { name: 'What may be done' })
    await open(`executions/${id}`)
    await page.getByRole('heading', { name: /executing/ }).waitFor()
    expect(await remedies.count()).toBe(0)
    // One commit above its input would be taken for an earlier attempt, and replaced.
    for (const text of ['of somebody else', 'again']) await commitOf(world.repo, MAIN, { 'orders.csv': text })
    writeFileSync(gate, '')
    expect(await world.ended(id)).toBe('FAILED')
    await page.getByRole('heading', { name: /failed/ }).waitFor()

    const { tasks } = (await (await fetch(`${world.url}/workflows/${id}`)).json()) as {
      readonly tasks: readonly { readonly id: string; readonly reference_name: string }[]
    }
    const task = tasks.find(({ reference_name: name }) => name === 'load')!.id
    const places = [
      `executions/${id}`,
      `executions/${id}/units/load`,
      `runs/${id}`,
      `runs/${id}/tasks/${task}`,
    ]
    for (const place of places) {
      await open(place)
      await follow(page, 'Recover what it did to shop')
      await page.waitForURL(`${world.url}/#/operations/recover?repository=shop&workflow=${id}`)
      await page.getByRole('article').getByText('fences/publish-refused').waitFor()
      await open(place)
      await follow(page, 'Verify shop/main')
      await page.waitForURL(`${world.url}/#/data/shop/branches/main/verify`)
      await open(place)
      await follow(page, 'Checks of this server')
      await page.waitForURL(`${world.url}/#/operations?at=examined`)
      await page.getByRole('heading', { name: 'Checks' }).waitFor()
    }
    await open(`executions/${id}`)
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      await remedies.waitFor()
      expect([width, await findBarriers(page)]).toEqual([width, []])
    }
    // From the recovery one comes back to what it is about.
    await follow(page, 'Recover what it did to shop')
    await follow(page, `the run ${id.slice(0, 8)}`)
    await page.waitForURL(`${world.url}/#/runs/${id}`)
  },
  TEST_MS,
)

test(
  'WB-88 a unit leads to the attempts of its task with logs and publications, and a task to its unit',
  async (context) => {
    const world = await openPageWorld()
    const id = await world.start('2026-01-15')
    expect(await world.ended(id)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/executions/${id}/units/load`)
    await follow(page, 'log, steps and publication')
    await page.getByRole('heading', { name: /^load/ }).waitFor()
    await page.getByText('loading <b>2026-01-15</b>').first().waitFor()
    await follow(page, 'events and result of the unit')
    await page.waitForURL(`${world.url}/#/executions/${id}/units/load`)
    await page.getByRole('heading', { name: /^Unit load/ }).waitFor()
    // Nothing failed: nothing is to be done.
    expect(await page.getByRole('navigation', { name: 'What may be done' }).count()).toBe(0)
  },
  TEST_MS,
)

async function follow(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name }).first().click()
}
