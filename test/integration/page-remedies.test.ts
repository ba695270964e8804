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
      await page.getByRole('article').getByRole('link', { name: 'load' }).waitFor()
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

test(
  'WB-89 WB-90 a refusal is read at any width: ids of commits are short, its steps have words, and no state is a code',
  async (context) => {
    const world = await openPageWorld()
    const gate = world.at('gate')
    const done = await world.start('2026-01-14')
    expect(await world.ended(done)).toBe('COMPLETED')
    const id = await world.start('2026-01-15', gate)
    for (const text of ['of somebody else', 'again']) await commitOf(world.repo, MAIN, { 'orders.csv': text })
    writeFileSync(gate, '')
    expect(await world.ended(id)).toBe('FAILED')
    const { head } = (await world.repo.readBranch(MAIN))!
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/runs/${id}/tasks`)
    await page.getByRole('link', { name: 'load' }).last().click()
    await page.getByRole('heading', { name: 'load failed, no retry' }).waitFor()
    const task = new URL(page.url()).hash.slice(2)
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      for (const address of ['', 'runs', `runs/${id}`, task, 'executions', `executions/${id}`]) {
        await page.goto(`${world.url}/#/${address}`)
        await page.reload()
        await page.waitForLoadState('networkidle')
        const text = await page.locator('main').innerText()
        if (address !== 'runs' && address !== 'executions')
          expect([address, text.includes(`its head is ${head.slice(0, 8)},`)]).toEqual([address, true])
        // The log of the task has it whole.
        expect([address, width, text.includes(head)]).toEqual([address, width, address === task])
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([address, width, overflow]).toEqual([address, width, 0])
      }
    }
    await page.goto(`${world.url}/#/executions/${done}`)
    await page.getByRole('heading', { name: 'shop.daily completed' }).waitFor()
  },
  TEST_MS,
)

test(
  'WB-91 a unit that waits for somebody says so and can be completed; a task, which belongs to its worker, cannot',
  async (context) => {
    const world = await openPageWorld()
    const gate = world.at('gate')
    const task = await world.start('2026-01-15', gate)
    const started = await fetch(`${world.url}/executions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ definition: { name: 'shop.sign', units: { sign: { human: {} } } } }),
    })
    const { execution_id: id } = (await started.json()) as { readonly execution_id: string }
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/executions/${task}/units/load`)
    await page.getByRole('link', { name: 'log, steps and publication' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Complete|Fail)/ }).count()).toBe(0)
    await page.goto(`${world.url}/#/executions/${id}/units/sign`)
    await page.getByText('It waits until somebody completes or fails it.').waitFor()
    expect(await page.getByRole('link', { name: 'log, steps and publication' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Complete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Complete', exact: true }).click()
    await page.getByRole('heading', { name: 'shop.sign completed' }).waitFor()
    await page
      .getByRole('navigation', { name: 'Way' })
      .getByRole('link', { name: /^shop\.sign/ })
      .click()
    await page.waitForURL(`${world.url}/#/executions/${id}`)
    writeFileSync(gate, '')
    expect(await world.ended(task)).toBe('COMPLETED')
  },
  TEST_MS,
)

test(
  'WB-92 WB-93 labels of a timeline do not overlap at any width; lists lead to each other, unknown addresses home',
  async (context) => {
    const world = await openPageWorld()
    const id = await world.start('2026-01-15')
    expect(await world.ended(id)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${world.url}/#/runs/${id}/timeline`)
      await page.locator('.axis').waitFor()
      const ends = await page.evaluate<readonly (readonly [number, number])[]>(SHOWN_LABELS)
      expect(ends.length).toBeGreaterThan(0)
      for (const [index, [left]] of ends.entries())
        expect([width, left >= (ends[index - 1]?.[1] ?? 0)]).toEqual([width, true])
    }
    await page.goto(`${world.url}/#/runs`)
    await page.getByRole('main').getByRole('link', { name: 'Executions' }).click()
    await page.getByRole('main').getByRole('link', { name: 'Runs' }).click()
    await page.waitForURL(`${world.url}/#/runs`)
    await page.goto(`${world.url}/#/nowhere`)
    await follow(page, 'What there is now')
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
  },
  TEST_MS,
)

const SHOWN_LABELS = `[...document.querySelectorAll('.axis > span')]
  .filter((label) => getComputedStyle(label).color !== 'rgba(0, 0, 0, 0)')
  .map((label) => [label.getBoundingClientRect().left, label.getBoundingClientRect().right])`

async function follow(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name }).first().click()
}
