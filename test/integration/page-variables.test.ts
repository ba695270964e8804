// Goal: a person sees in a browser what a variable was before, when, and by whom.
import { expect, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 240_000

test(
  'WB-82 WB-83 the writes of a variable stand with time and writer, open by keyboard, and say what is left out',
  async (context) => {
    const world = await openPageWorld()
    const id = await world.start('2026-01-15')
    expect(await world.ended(id)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/executions/${id}/variables`)
    await page.getByRole('link', { name: 'load.workspace', exact: true }).click()
    const writes = page.getByRole('list', { name: 'What was written, the latest first' })
    await writes.getByText(/by load/).waitFor()
    expect(await writes.getByRole('listitem').count()).toBe(1)
    expect(await writes.locator('time').count()).toBe(1)
    const value = writes.getByRole('group', { name: 'Earlier value of load.workspace' })
    expect(await value.isVisible()).toBe(false)
    await writes.locator('summary').first().focus()
    await page.keyboard.press('Enter')
    await value.getByText('main').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'pipeline.input.day', exact: true }).click()
    await writes.getByText('at the start').waitFor()
  },
  TEST_MS,
)
