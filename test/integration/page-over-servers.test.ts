// Goal: `perago ui` shows what a lakeFS and a real Conductor hold, and what is done on it is done there.
// Method: a real Chromium, a worker, a workflow of two tasks. `npm run build` comes first.
import { writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { branchName } from '../../src/base/ids.ts'
import { openProject } from '../support/cli/command.ts'
import { findBarriers, openPage, useBrowser } from '../support/page/browser.ts'
import { useRealServer } from '../support/servers/servers.ts'
import {
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  stepOf,
} from '../support/worker-conductor/world.ts'

const browser = useBrowser()
const conductor = useRealServer('conductor')
const TASK = 'perago_it_steady'
const FLOW = 'perago_it_seen'
const TEST_MS = 180_000

test(
  'WB-09 perago ui shows runs of a real Conductor beside the data of lakeFS, and acts on them',
  async (context) => {
    const { url } = conductor(context)
    await registerTasks(url)
    const lakefs = await openWorkerLakefs()
    onTestFinished(() => lakefs.close())
    const world = await openWorkerWorld(url, lakefs)
    onTestFinished(() => world.close())
    const second = stepOf(TASK, 'second', { params: 'second', after: 'first' })
    await world.control.registerWorkflow({ name: FLOW, tasks: [stepOf(TASK, 'first'), second] })
    await world.open({ slots: 1 })
    const open = branchName('open')
    await world.repo.createBranch({ branch: open, from: world.inputRef })
    const done = await world.start(FLOW, { file: 'one.txt' }, { input: { second: { file: 'two.txt' } } })
    expect((await world.ended(done)).status).toBe('COMPLETED')
    const go = world.at('go')
    const waiting = await world.start(FLOW, { file: 'three.txt', go }, { branch: open })

    const { page, url: at } = await openUi(await browser(context), world.configuration)
    const address = (path: string): Promise<unknown> => page.goto(`${at}/#/${path}`)
    await address(`runs/${done}`)
    await page.getByRole('heading', { name: /completed/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByRole('link', { name: 'second' }).first().click()
    await page.getByText('merged').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    // What the task has published, in the data.
    const { head } = (await world.repo.readBranch(branchName('main')))!
    await page
      .getByRole('link', { name: head.slice(0, 8) })
      .first()
      .click()
    await page.getByRole('link', { name: 'data/two.txt' }).first().waitFor()

    await address(`runs/${waiting}`)
    for (const [act, state] of [
      ['Pause', 'PAUSED'],
      ['Resume', 'RUNNING'],
      ['Terminate', 'TERMINATED'],
    ] as const) {
      await page.getByRole('button', { name: `${act}…` }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: act, exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      const readStatus = async () => (await world.control.readWorkflow(waiting))?.status
      await expect.poll(readStatus, { timeout: 20_000 }).toBe(state)
      await page.getByRole('heading', { name: new RegExp(state, 'i') }).waitFor()
    }
    writeFileSync(go, '')
    await address('operations')
    await page.getByText(TASK).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
  },
  TEST_MS,
)

async function openUi(
  chromium: Parameters<typeof openPage>[0],
  { lakefs, conductor: { serverUrl } }: Awaited<ReturnType<typeof openWorkerWorld>>['configuration'],
) {
  const project = await openProject()
  onTestFinished(() => project.close())
  const ui = project.start(['ui', '--port', '0'], {
    LAKEFS_ENDPOINT: lakefs.endpoint ?? '',
    LAKEFS_ACCESS_KEY_ID: lakefs.credentials?.accessKeyId ?? '',
    LAKEFS_SECRET_ACCESS_KEY: lakefs.credentials?.secretAccessKey ?? '',
    CONDUCTOR_SERVER_URL: serverUrl ?? '',
  })
  const address = (await ui.firstLine).replace(/^ready /, '').trim()
  const { page } = await openPage(chromium, address)
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
  return { page, url: new URL(address).origin }
}
