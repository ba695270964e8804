// Goal: what a person sees in a browser is what happened, and nothing in it can act in their name.
// Method: a real Chromium over `perago dev`, a worker killed while its run is watched. `npm run build` comes first.
import { expect, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { MAIN, openPageWorld, until } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 180_000

test(
  'WB-01 a worker is killed while its run is watched; the replacement, its tag and the diff are shown',
  async (context) => {
    const world = await openPageWorld()
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(await page.evaluate('location.hash')).toBe('#/')

    world.killAtMerge()
    const gate = world.at('gate')
    const id = await world.start('2026-01-15', gate)
    await page.getByRole('link', { name: 'shop.daily' }).first().click()
    await page.getByRole('heading', { name: /shop\.daily/ }).waitFor()
    await page.screenshot({ path: '/tmp/devw/story-1.png', fullPage: true })
    await world.write('gate', '')
    await until('the run has ended', async () => {
      const view = (await (await fetch(`${world.url}/api/workflow/${id}`)).json()) as { status: string }
      return view.status === 'COMPLETED'
    })
    await page.screenshot({ path: '/tmp/devw/story-2.png', fullPage: true })
    expect(await findBarriers(page)).toEqual([])
    const head = await world.repo.readBranch(MAIN)
    expect(head).toBeDefined()
  },
  TEST_MS,
)
