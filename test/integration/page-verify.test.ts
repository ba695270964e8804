// Goal: whether a history holds is seen in a browser, with what to do where it does not.
// Method: a real Chromium over `perago dev`; a commit that lies about what its task has read is put on the branch.
import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { MAIN, openPageWorld, type PageWorld } from '../support/page/world.ts'
import { bytes, commitOf } from '../conformance/versioned-repo-cases/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000
const SHOTS = process.env['PERAGO_TEST_SHOTS']
const UNREAD = 'f'.repeat(64)

/** A publication that stands on a commit which its task has not read. */
function lie({ repo }: PageWorld): ReturnType<typeof commitOf> {
  const metadata = { 'publish.run': 'r', 'publish.input': UNREAD, 'publish.workflow': 'nobody' }
  return commitOf(repo, MAIN, { 'lie.txt': 'x' }, { metadata })
}

/** Light and dark, wide and narrow: nothing stands in the way, and nothing is wider than the screen. */
async function see(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 400]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      const seen = [name, colorScheme, width]
      expect([...seen, await findBarriers(page)]).toEqual([...seen, []])
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([...seen, overflow]).toEqual([...seen, 0])
      if (SHOTS === undefined) continue
      mkdirSync(SHOTS, { recursive: true })
      await page.screenshot({ path: `${SHOTS}/${seen.join('-')}.png`, fullPage: true })
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 })
}

test(
  'WB-72 from a branch and from a commit one comes to whether the history holds; where it does, the page says so',
  async (context) => {
    const world = await openPageWorld()
    expect(await world.ended(await world.start('2026-01-15'))).toBe('COMPLETED')
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/data/shop/branches/main`)
    await page.getByRole('link', { name: 'Verify' }).click()
    await page.waitForURL(`${world.url}/#/data/shop/branches/main/verify`)
    await page.getByText('Nothing is refuted. All 4 commits were checked.').waitFor()
    const checks = page.getByRole('region', { name: 'What was checked' })
    expect(await checks.getByText('✓ holds', { exact: true }).count()).toBe(5)
    expect(await checks.getByText('refuted').count()).toBe(0)
    await see(page, 'holds')

    // Its own address: also of a part of the history.
    await page.reload()
    await page.getByText('Nothing is refuted.').waitFor()
    const { head } = (await world.repo.readBranch(MAIN))!
    const parent = (await world.repo.readCommit(head))!.parents[0] ?? ''
    await page.goto(`${world.url}/#/data/shop/commits/${head}`)
    await page.getByRole('link', { name: 'Verify main down to here' }).click()
    await page.waitForURL(`${world.url}/#/data/shop/branches/main/verify?since=${parent}`)
    await page.getByText(`1 commit above ${parent} was checked, and none below.`).waitFor()
    await page.getByLabel('Only commits above').fill('main')
    await page.getByRole('button', { name: 'Verify', exact: true }).click()
    await page.getByText('No commit is above main: nothing was checked.').waitFor()
    expect(await page.getByText('Nothing is refuted').count()).toBe(0)
    await page.getByRole('link', { name: 'Verify all of it' }).click()
    await page.getByText('All 4 commits were checked.').waitFor()
  },
  TEST_MS,
)

test(
  'WB-73 what is refuted is shown with its commit, why, and what to do next; what is only noticed stands apart',
  async (context) => {
    const world = await openPageWorld()
    expect(await world.ended(await world.start('2026-01-15'))).toBe('COMPLETED')
    const byHand = await commitOf(world.repo, MAIN, { 'hand.txt': 'by hand' })
    const { ref } = await lie(world)
    const { page } = await openPage(await browser(context), world.pageUrl)
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/data/shop/branches/main/verify`)
    await page.getByText('1 finding').waitFor()
    const checks = page.getByRole('region', { name: 'What was checked' })
    const refuted = checks.getByRole('listitem').filter({ hasText: 'expected-parent' })
    await refuted
      .getByText(`it stands on ${byHand.ref.slice(0, 8)}, and its task has read ffffffff`)
      .waitFor()
    await refuted.getByText(/run its workflow again from the head/).waitFor()
    expect(await checks.getByText('✓ holds', { exact: true }).count()).toBe(4)
    const noticed = page.getByRole('region', { name: 'Noticed besides' })
    await noticed.getByText('1 commit not made by perago').click()
    await noticed.getByRole('link', { name: byHand.ref.slice(0, 8) }).waitFor()
    expect(await noticed.getByRole('rowheader', { name: 'task total' }).count()).toBe(1)
    await noticed.getByText(/1 workflow that the server does not know/).click()
    await noticed.getByRole('link', { name: 'nobody' }).waitFor()
    await see(page, 'refuted')
    await refuted.getByRole('link', { name: 'Recover main' }).click()
    await page.waitForURL(`${world.url}/#/operations/recover?repository=shop&branch=main`)
    await page.getByRole('heading', { name: 'Recover shop/main' }).waitFor()
    await page.goBack()
    await refuted
      .getByRole('link', { name: ref.slice(0, 8) })
      .first()
      .click()
    await page.waitForURL(`${world.url}/#/data/shop/commits/${ref}`)
  },
  TEST_MS,
)

test(
  'WB-75 a check that ended early says where and how to go on; a server without recoveries shows no way to it',
  async (context) => {
    const world = await openPageWorld()
    for (const path of ['a', 'b']) await world.repo.write({ branch: MAIN, path, body: bytes(path) })
    const { ref } = await commitOf(world.repo, MAIN, { 'c.txt': 'c' })
    const { page } = await openPage(await browser(context), world.pageUrl, { expected: /status of 404/ })
    let hasRecoveries = true
    await page.route('**/session', async (route) => {
      const session = (await (await route.fetch()).json()) as { shows: string[] }
      const shows = session.shows.filter((part) => hasRecoveries || part !== 'recoveries')
      await route.fulfill({ json: { ...session, shows } })
    })
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.goto(`${world.url}/#/data/shop/branches/main/verify?limit=1`)
    await page
      .getByText(`The newest commit was checked, down to ${ref.slice(0, 8)}, and none below.`)
      .waitFor()
    await page.getByRole('link', { name: 'Verify up to 10,000 commits' }).click()
    await page.getByText('All 2 commits were checked.').waitFor()

    const verifications = '**/verification?*'
    await page.route(verifications, async (route) => {
      const found = (await (await route.fetch()).json()) as object
      await route.fulfill({ json: { ...found, stopped: 'time', is_whole: false, open_outputs: 3 } })
    })
    await page.getByRole('button', { name: 'Verify again' }).click()
    await page.getByText(/then the time for it was over/).waitFor()
    await page.getByText('npx perago verify REPOSITORY BRANCH').waitFor()
    await page.getByText('3 outputs not judged').waitFor()
    await page.getByText('as far as it could be judged').waitFor()
    await see(page, 'cut')
    await page.unroute(verifications)
    await page.goto(`${world.url}/#/data/shop/branches/none/verify`)
    await page.getByRole('alert').getByText('recovery/no-such-ref').waitFor()

    await page.goto(`${world.url}/#/data/shop/branches/main`)
    await page.getByRole('link', { name: 'Verify' }).waitFor()
    hasRecoveries = false
    await page.reload()
    await page.getByRole('link', { name: 'Files' }).first().waitFor()
    expect(await page.getByRole('link', { name: /Verify|Recover/ }).count()).toBe(0)
    await page.goto(`${world.url}/#/data/shop/commits/${ref}`)
    await page.getByRole('link', { name: 'Files' }).first().waitFor()
    expect(await page.getByRole('link', { name: /Verify/ }).count()).toBe(0)
  },
  TEST_MS,
)
