// What tests of the page have come to: looked at for barriers, and kept as a picture for the documents.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { findBarriers } from './browser.ts'

const PICTURES = process.env['PERAGO_PICTURES']

/** Nothing stands in the way of anybody; kept as a picture where that is wanted. */
export async function see(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
  expect([name, await findBarriers(page)]).toEqual([name, []])
  if (PICTURES === undefined) return
  // All that there is, and no empty room beneath it.
  const height = await page.evaluate<number>(CONTENT_HEIGHT)
  const clip = { x: 0, y: 0, width: page.viewportSize()?.width ?? 0, height }
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true, clip })
}

const CONTENT_HEIGHT = `Math.ceil(Math.max(...[...document.querySelectorAll('main > *, dialog[open]')]
  .map((part) => part.getBoundingClientRect().bottom))) + 24`
