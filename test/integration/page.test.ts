// Goal: what a person sees in a browser is what happened, and can be acted upon.
// Method: a real Chromium over `perago dev`; a worker is killed while its run is watched. `npm run build` comes first.
// `npm run pictures` keeps what it looks like under docs/images.
import { expect, test } from 'vitest'
import { openPage, useBrowser } from '../support/page/browser.ts'
import { hostileCommit, HOSTILE } from '../support/page/hostile.ts'
import { see } from '../support/page/see.ts'
import { MAIN, openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 240_000

test(
  'WB-01 a worker is killed while its run is watched; its replacement, the tag, the diff and a rollback are seen',
  async (context) => {
    const world = await openPageWorld()
    const first = await world.start('2026-01-15')
    expect(await world.ended(first)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()

    // The next merge takes effect, and the worker does not live to hear of it.
    const id = await world.start('2026-01-16', world.at('gate'))
    await page.getByRole('link', { name: 'shop.daily' }).first().click()
    await page.getByRole('link', { name: /^load/ }).first().waitFor()
    world.killAtMerge()
    await world.write('gate', '')
    await page.getByText('try 2').filter({ visible: true }).first().waitFor()
    await page.getByRole('heading', { name: /completed/ }).waitFor()
    await see(page, 'run')
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.getByRole('heading', { name: /completed/ }).waitFor()
    await see(page, 'timeline')

    await page.getByRole('link', { name: 'shop/main' }).click()
    await page.getByText('superseded').first().waitFor()
    await see(page, 'branch')
    // What was replaced is kept by its tag, and the one in its place is on the line.
    const superseded = page.getByRole('row').filter({ hasText: 'superseded' })
    expect(await superseded.count()).toBe(1)
    expect(await superseded.textContent()).toContain('load, attempt 0')
    await page.getByRole('link', { name: /load, attempt 1/ }).click()
    await page.getByRole('link', { name: 'orders.csv' }).first().click()
    const changed = page.getByRole('row').filter({ hasText: 'pears' })
    expect(await changed.textContent()).toMatch(/4.*5/)
    await see(page, 'commit')

    // The last phase is taken back, and the branch moves to where it was before.
    const { head } = (await world.repo.readBranch(MAIN))!
    await page.goto(`${world.url}/#/executions/${id}`)
    await page.getByRole('button', { name: 'Roll back' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox').first().selectOption('phase')
    await dialog.getByRole('combobox').last().selectOption('end')
    await dialog.getByText(head.slice(0, 8)).first().waitFor()
    await see(page, 'rollback')
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const parent = (await world.repo.readCommit(head))!.parents[0]
    await expect.poll(async () => (await world.repo.readBranch(MAIN))!.head, { timeout: 30_000 }).toBe(parent)
    await page.goto(`${world.url}/#/data/shop/branches/main`)
    await page
      .getByRole('link', { name: /check, attempt 0/ })
      .first()
      .waitFor()
    await see(page, 'rolled-back')

    expect(await world.ended(await world.start('closed'))).toBe('FAILED')
    const running = await world.start('2026-01-17', world.at('later'))
    for (const [name, heading] of [
      ['', 'Now'],
      ['runs', 'Runs'],
      ['executions', 'Executions'],
      ['data', 'Repositories'],
      ['data/shop', 'shop'],
      ['data/shop/at/main', ''],
      ['operations', 'Operations'],
      ['operations/recover?repository=shop&branch=main', 'Recover shop/main'],
    ] as const) {
      await page.goto(`${world.url}/#/${name}`)
      await page
        .getByRole('heading', { name: heading, exact: heading !== '' })
        .first()
        .waitFor()
      await see(page, name === '' ? 'now' : name.replace(/[/?].*[/=]|\//g, '-'))
    }
    await world.write('later', '')
    expect(await world.ended(running)).toBe('COMPLETED')
  },
  TEST_MS,
)

test(
  'WB-06 names, messages, log lines, cells and keys that look like a page are shown as text and run nothing',
  async (context) => {
    const world = await openPageWorld()
    expect(await world.ended(await world.start('never'))).toBe('FAILED')
    const commit = await hostileCommit(world.repo)
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    for (const [address, shown] of [
      ['#/data/shop/branches/main', HOSTILE.message],
      [`#/data/shop/commits/${commit}`, HOSTILE.message],
      ...HOSTILE.paths.map(
        (path) => [`#/data/shop/commits/${commit}?path=${encodeURIComponent(path)}`, HOSTILE.inside] as const,
      ),
      ['#/runs', 'shop.daily'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
      await page.getByText(shown).filter({ visible: true }).first().waitFor()
      await page.waitForLoadState('networkidle')
      expect([address, await page.evaluate('window.pwned')]).toEqual([address, undefined])
    }
    // The task has logged a tag, and failed with a script in its message.
    await page.getByRole('link', { name: 'shop.daily' }).first().click()
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByRole('link', { name: 'load' }).first().click()
    await page.getByText('loading <b>never</b>').first().waitFor()
    await page.evaluate(`location.hash = '#/'`)
    await page.getByText('<script>window.pwned = 1</script>').first().waitFor()
    expect(await page.evaluate('window.pwned')).toBe(undefined)
    expect(await page.evaluate(`document.querySelectorAll('main script, main b, main img').length`)).toBe(0)
  },
  TEST_MS,
)

test(
  'WB-68 the page of a task has a table of what its worker did, step by step, for everybody to read',
  async (context) => {
    const world = await openPageWorld()
    const id = await world.start('2026-01-15')
    expect(await world.ended(id)).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/runs/${id}/tasks`)
    await page.getByRole('link', { name: 'load' }).first().click()
    const table = page.getByRole('region', { name: 'Table of the steps of this try' })
    await table.waitFor()
    expect(await table.getByRole('row', { name: /^the body .* (ms|s)$/ }).count()).toBe(1)
    const fence = table.getByRole('row', { name: /^publish fence/ })
    expect(await fence.textContent()).toContain('ok')
    await see(page, 'task')
  },
  TEST_MS,
)
