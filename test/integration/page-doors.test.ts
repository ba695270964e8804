// Goal: only who is known sees the page's data, and no other page acts in a person's name.
// Method: a real Chromium over `perago dev`; a foreign page on another port of the same address, which counts as the same site.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { MAIN, openPageWorld } from '../support/page/world.ts'

const browser = useBrowser()
const TEST_MS = 120_000
const WRONG = /status of 401|status of 403/

test(
  'WB-02 the key of the address logs in once and leaves it; without one the page asks, and a log-out ends the session',
  async (context) => {
    const { pageUrl, url } = await openPageWorld()
    const { page } = await openPage(await browser(context), pageUrl, { expected: WRONG })
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(page.url()).toBe(`${url}/#/`)
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.getByRole('link', { name: 'Operations' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Operations' }).waitFor()

    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Token').fill('pat_wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
  },
  TEST_MS,
)

test(
  'WB-03 no barrier is found, light and dark, wide and narrow, in any view, and nothing is wider than the screen',
  async (context) => {
    const { pageUrl, start, ended, repo } = await openPageWorld()
    const id = await start('2026-01-15')
    await ended(id)
    const failed = await start('closed')
    await ended(failed)
    const { head } = (await repo.readBranch(MAIN))!
    const addresses = [
      ...['', 'operations', 'operations/recover?repository=shop&branch=main', 'data', 'data/shop'],
      ...['data/shop/branches/main', 'data/shop/branches/main/verify', 'data/shop/at/main'],
      'data/shop/at/main?path=orders.csv',
      ...[`data/shop/commits/${head}`, `data/shop/commits/${head}?path=orders.csv`],
      ...['runs', `runs/${id}`, `runs/${failed}`, 'executions', `executions/${id}`],
      ...['events', 'variables', 'shared', 'checkpoints', 'values', 'units/load'].map(
        (side) => `executions/${id}/${side}`,
      ),
      ...[`runs/${id}/timeline`, `runs/${id}/tasks`, `executions/${failed}`, 'nowhere'],
    ]
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 400]) {
        const viewport = { width, height: 900 }
        const { page, context: opened } = await openPage(await browser(context), pageUrl, {
          colorScheme,
          viewport,
        })
        await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
        for (const address of addresses) {
          await page.evaluate(`location.hash = '#/${address}'`)
          await page.getByRole('heading', { level: 1 }).first().waitFor()
          await page.waitForLoadState('networkidle')
          const seen = [address, colorScheme, width]
          expect([...seen, await findBarriers(page)]).toEqual([...seen, []])
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          expect([...seen, overflow]).toEqual([...seen, 0])
        }
        await opened.close()
      }
    }
  },
  2 * TEST_MS,
)

test(
  'WB-04 a foreign page neither frames the page nor sends anything in the name of who is logged in',
  async (context) => {
    const { pageUrl, url, start, at } = await openPageWorld()
    const id = await start('2026-01-15', at('gate'))
    const opened = await openPage(await browser(context), pageUrl, { expected: /foreign|403|frame|asked / })
    await opened.page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    const foreign = await serveForeign(url, id)
    const page = await opened.context.newPage()
    await page.goto(foreign)
    const statuses = await page.evaluate<readonly unknown[]>('attack()')
    // The browser shows no answer to the foreign page; what counts is what became of the run.
    expect(statuses.length).toBe(12)
    await page.waitForTimeout(500)
    const view = (await (await fetch(`${url}/api/workflow/${id}`)).json()) as { status: string }
    expect(view).toMatchObject({ status: 'RUNNING' })
    expect(await page.frames()[1]?.title()).not.toBe('Now · perago')
    await page.evaluate('submitForm()')
    await page.waitForLoadState()
    expect(await page.textContent('body')).toMatch(/api\/foreign-page|api\/not-json|api\/bad-token/)
    const after = (await (await fetch(`${url}/api/workflow/${id}`)).json()) as { status: string }
    expect(after.status).toBe('RUNNING')

    // The same request from the page itself does it, so the test could fail.
    const own = await opened.page.evaluate<number>(
      `fetch('/executions/${id}/cancel', { method: 'POST' }).then(({ status }) => status)`,
    )
    expect(own).toBeLessThan(300)
  },
  TEST_MS,
)

test(
  'WB-05 when the server is gone the page says so and how old it is, and goes on when it is back',
  async (context) => {
    const { pageUrl } = await openPageWorld()
    const { page } = await openPage(await browser(context), pageUrl, {
      expected: /ERR_FAILED|ERR_CONNECTION/,
    })
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    await page.route('**/*', (route) => route.abort())
    await page.locator('.stale').waitFor()
    await page.unroute('**/*')
    await page.locator('.stale').waitFor({ state: 'detached' })
  },
  TEST_MS,
)

async function serveForeign(target: string, id: string): Promise<string> {
  const html = `<!doctype html><title>foreign</title><iframe src="${target}/"></iframe>
<form id="form" method="post" action="${target}/executions/${id}/cancel"></form>
<script>
const send = (path, init) => fetch('${target}' + path, init).then(() => 'read', () => 'not read')
const attack = async () => {
  const found = []
  for (const path of ['/executions/${id}/cancel', '/executions/${id}/pause', '/workflows/${id}/terminate'])
    for (const mode of ['no-cors', 'cors'])
      for (const credentials of ['include', 'omit']) found.push(await send(path, { method: 'POST', mode, credentials }))
  return found
}
const submitForm = () => document.getElementById('form').submit()
</script>`
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
}
