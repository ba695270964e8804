// A real Chromium, driven as a person would. Whatever the page should not do (errors, requests to elsewhere, breaches of its policy)
// is noted and fails the test that opened it.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, expect, onTestFinished, type TestContext } from 'vitest'

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const START_MS = 60_000
/** A machine with two cores that does other things as well. */
const PATIENCE_MS = 30_000
const WIDE = { width: 1280, height: 900 }

export interface PageOptions {
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { readonly width: number; readonly height: number }
  /** What the server answers with these is expected. */
  readonly expected?: RegExp
}

/** One browser for the tests of a file. Without Chromium they are skipped; where `CI` is `true` they fail. */
export function useBrowser(): (context: TestContext) => Promise<Browser> {
  let opened: Promise<Browser> | undefined
  afterAll(async () => (await opened)?.close())
  return (context) => {
    const program = process.env['PERAGO_TEST_CHROMIUM'] ?? PROGRAMS.find((path) => existsSync(path))
    if (program === undefined) {
      if (process.env['CI'] === 'true') throw new Error('there is no Chromium')
      return context.skip('there is no Chromium: install the package chromium, or set PERAGO_TEST_CHROMIUM')
    }
    // Its sandbox needs what a container does not give to root; it sees only pages of these tests.
    opened ??= chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: START_MS })
    return opened
  }
}

export interface OpenedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** What went wrong so far. */
  readonly problems: readonly string[]
}

/** At the end of the test nothing may have gone wrong. */
export async function openPage(
  browser: Browser,
  url: string,
  { expected, ...options }: PageOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: WIDE, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const { origin } = new URL(url)
  const problems: string[] = []
  const note = (problem: string): void => {
    if (expected?.test(problem) !== true) problems.push(problem)
  }
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => note(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`)
    dialog.dismiss().catch(() => undefined)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('blob:'))
      note(`asked ${request.url()}`)
  })
  await page.addInitScript({ content: TELLS_BREACHES })
  onTestFinished(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  await page.goto(url)
  return { page, context, problems }
}

const TELLS_BREACHES = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI))`

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** What axe finds in the page as it stands. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate<AxeResult>('axe.run()')
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id} (${help}): ${html} ${failureSummary}`),
  )
}
