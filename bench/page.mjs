// npm run bench -- page [--rounds 5]
// The page in a real Chromium over a server of this package; lists are made up, so that they are long: bytes and time to the first
// view, and the longest task of the page while long lists and large graphs are loaded and scrolled, beside the same with ten entries.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { startServing } from '../scripts/serving.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const ROUNDS = Number(values.rounds)
const PROGRAM = process.env.PERAGO_TEST_CHROMIUM ?? '/usr/bin/chromium'
const SCROLLS = 60
const REPOSITORY = { name: 'lake', default_branch: 'main', created_at: new Date(), read_only: false }

const directory = mkdtempSync(join(tmpdir(), 'perago-bench-page-'))
const command = join(import.meta.dirname, '../dist/cli/main.js')
const server = await startServing(process.execPath, [command, 'ui', '--port', '0'], {
  cwd: directory,
  env: {
    PATH: process.env.PATH,
    LAKEFS_ENDPOINT: 'http://127.0.0.1:9',
    LAKEFS_ACCESS_KEY_ID: 'a',
    LAKEFS_SECRET_ACCESS_KEY: 'b',
  },
})
const browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] })
try {
  await firstView()
  await scenes()
} finally {
  await browser.close()
  await server.stop()
  rmSync(directory, { recursive: true })
}

async function firstView() {
  const times = []
  let sizes = { files: 0, bytes: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, close } = await openPage(10)
    const started = performance.now()
    await page.goto(server.url)
    await page.getByRole('heading', { name: 'Changed today' }).waitFor()
    await page.getByText('Publish load').first().waitFor()
    times.push(performance.now() - started)
    sizes = await page.evaluate(`(() => {
      const files = performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css)$/.test(name))
      return { files: files.length, bytes: files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) }
    })()`)
    await close()
  }
  times.sort((a, b) => a - b)
  console.log(`| first view | ${sizes.files} files, ${(sizes.bytes / 1_000).toFixed(1)} KB compressed |`)
  console.log(
    `|---|---|\n| until it shows data, median of ${ROUNDS} | ${Math.round(times[ROUNDS >> 1])} ms |\n`,
  )
}

async function scenes() {
  const table = []
  for (const [name, many, address, heading] of [
    ['commits of a branch', 1_000, '#/data/lake/branches/main', 'main'],
    ['objects of a prefix', 10_000, '#/data/lake/at/main', 'Files of main'],
    ['runs', 1_000, '#/runs', 'Runs'],
    ['graph of a run', 500, '#/runs/run-0', 'daily'],
  ]) {
    const [few, lots] = [await longest(10, address, heading), await longest(many, address, heading)]
    table.push(`| ${name} | ${many} | ${few.load} | ${lots.load} | ${few.scroll} | ${lots.scroll} |`)
  }
  console.log('Longest task of the page in ms (0: none of 50):\n')
  console.log('| what | how many | load, 10 | load, all | scroll, 10 | scroll, all |')
  console.log(`|---|---|---|---|---|---|\n${table.join('\n')}`)
}

async function longest(count, address, heading) {
  const { page, close } = await openPage(count)
  await page.goto(server.url)
  await page.getByRole('heading', { name: 'Changed today' }).waitFor()
  const taken = async () => {
    await page.waitForTimeout(500)
    return page.evaluate('Math.round(Math.max(0, ...seen.splice(0)))')
  }
  await page.evaluate(`globalThis.seen = []; new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' }); setTimeout(() => { for (const end = performance.now() + 80; performance.now() < end; ); })`)
  // Otherwise a zero would say nothing.
  if ((await taken()) < 80) throw new Error('a task of 80 ms was not seen')
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`)
  await page.getByRole('heading', { name: heading }).first().waitFor()
  await page.waitForTimeout(1_000)
  const load = await taken()
  const box = page.locator('.rows-box, [role=rowgroup][tabindex], .graph svg, .drawing').first()
  if ((await box.count()) > 0) await box.hover()
  for (let turn = 0; turn < SCROLLS; turn += 1) await page.mouse.wheel(turn % 2, 600)
  const scroll = await taken()
  await close()
  return { load, scroll }
}

async function openPage(count) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const json = (route, body) => route.fulfill({ json: body })
  const shows = ['repositories', 'workflows', 'examination']
  await page.route('**/session', (route) => json(route, { name: 'bench', role: 'admin', shows }))
  await page.route('**/repositories?*', (route) => json(route, { repositories: [REPOSITORY] }))
  await page.route('**/repositories/lake/**', (route) =>
    json(route, ofRepository(new URL(route.request().url()), count)),
  )
  await page.route('**/workflows?*', (route) =>
    json(route, { workflows: pageOf(new URL(route.request().url()), count, runAt).items }),
  )
  await page.route('**/workflows/run-0', (route) => json(route, runWith(count)))
  await page.route('**/pollers', (route) => json(route, { pollers: [], whole: true }))
  await page.route('**/examination', (route) => json(route, { examined_at: new Date(), checks: [] }))
  return { page, close: () => context.close() }
}

function ofRepository(url, count) {
  const what = url.pathname.split('/').at(-1)
  if (what === 'branches') return { branches: [{ name: 'main', commit: idOf(0) }] }
  if (what === 'tags') return { tags: [] }
  const { items, next } = pageOf(url, count, what === 'commits' ? commitAt : objectAt)
  return {
    [what === 'commits' ? 'commits' : 'entries']: items,
    ...(next !== undefined && { next_after: next }),
  }
}

function pageOf(url, count, at) {
  const limit = Number(url.searchParams.get('limit') ?? 100)
  const after = url.searchParams.get('after')
  const first =
    after === null ? 0 : Number.parseInt(after.replace(/^\D*/, ''), after.length === 64 ? 16 : 10) + 1
  const items = Array.from({ length: Math.max(0, Math.min(limit, count - first)) }, (_, index) =>
    at(first + index, count),
  )
  const last = items.at(-1)
  return { items, next: first + limit < count ? (last.id ?? last.path) : undefined }
}

function idOf(index) {
  return index.toString(16).padStart(64, '0')
}

function commitAt(index, count) {
  return {
    id: idOf(index),
    parents: index + 1 < count ? [idOf(index + 1)] : [],
    message: `Publish load, attempt ${index % 3}`,
    committer: 'bench',
    created_at: new Date(Date.now() - index * 60_000),
    metadata: { 'publish.task': 'load', 'publish.workflow': `run-${index}`, 'publish.run': `e${index}` },
  }
}

function objectAt(index) {
  const path = `part-${String(index).padStart(6, '0')}.csv`
  return { kind: 'object', path, size: index, modified_at: new Date(0), checksum: 'c' }
}

function runAt(index) {
  return {
    id: `run-${index}`,
    name: 'daily',
    version: 1,
    status: 'COMPLETED',
    started_at: new Date(0),
    ended_at: new Date(1_000),
  }
}

/** Layers of ten, each after two of the layer before. */
function runWith(count) {
  const names = Array.from({ length: count }, (_, index) => `unit-${index}`)
  const nodes = names.map((reference_name) => ({ reference_name, name: 'work', kind: 'SIMPLE' }))
  const edges = names
    .slice(10)
    .flatMap((to, index) => [
      { from: names[index], to },
      ...(index % 3 === 0 ? [{ from: names[index - (index % 10)], to }] : []),
    ])
  const tasks = names.map((name, seq) => ({
    ...{
      id: `task-${seq}`,
      reference_name: name,
      node: name,
      name: 'work',
      kind: 'SIMPLE',
      status: 'COMPLETED',
    },
    ...{
      retry: 0,
      iteration: 0,
      seq,
      retried: false,
      scheduled_at: new Date(seq),
      started_at: new Date(seq + 1),
    },
    ...{ ended_at: new Date(seq + 9), input: {}, output: {} },
  }))
  return { ...runAt(0), status: 'RUNNING', input: {}, output: {}, tasks, graph: { nodes, edges } }
}
