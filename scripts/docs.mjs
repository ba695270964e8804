// npm run docs: the documents and the API as a site in `site/`, which any web server can show; nothing is loaded from elsewhere.
//   npm run docs -- --base /perago/      where the site will not be at the root of its host
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { writeApiPages } from './docs/api.mjs'
import { judgeSite } from './docs/check.mjs'
import { listPages, placeOf } from './docs/pages.mjs'

const PAGES = '.cache/docs'
const SITE = 'site'
const WRONG_MAX = 50

const { base } = parseArgs({ options: { base: { type: 'string', default: '/' } } }).values

rmSync(PAGES, { recursive: true, force: true })
for (const page of listPages()) copy(page, join(PAGES, placeOf(page)))
// Documents name them relative to their own place; the README is at the root, where `docs/` is before it.
for (const place of [PAGES, join(PAGES, 'docs')])
  cpSync('docs/images', join(place, placeOf('docs/images')), { recursive: true })
await writeApiPages(join(PAGES, 'api'))
await build('docs', { base })

const wrong = judgeSite(SITE, base)
for (const sentence of wrong.slice(0, WRONG_MAX)) console.error(sentence)
if (wrong.length > 0) throw new Error(`${wrong.length} things are wrong with the site`)
console.log(`built: ${SITE}/index.html`)

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}
