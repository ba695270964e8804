// The side bar of the site, read from the map of the documentation: whoever adds a page there has added it here.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { listPages, placeOf } from './pages.mjs'

const MAP = 'docs/README.md'

/** Groups of entries `{ text, link, items? }`, in the order of the map. */
export function readNavigation() {
  const [, ...sections] = readFileSync(MAP, 'utf8').split(/^## /m)
  const seen = new Set()
  return sections.map((section) => {
    const [heading] = section.split('\n', 1)
    // One after the other: a page that stands for its folder takes the folder's pages before the map names them.
    const items = readLinks(section).flatMap(({ text, page }) => {
      if (!listPages().includes(page) || seen.has(page)) return []
      seen.add(page)
      return [toEntry(text, page, seen)]
    })
    return { text: heading, items, collapsed: false }
  })
}

/** Every page that the side bar leads to. */
export function linksOf(groups) {
  return groups.flatMap(({ link, items = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(items)])
}

/** A page that stands for its folder has the folder's pages below it. */
function toEntry(text, page, seen) {
  const entry = { text: text.charAt(0).toUpperCase() + text.slice(1), link: linkTo(page) }
  const isFolder = posix.basename(page) === 'README.md' && page !== 'README.md'
  if (!isFolder) return entry
  const below = listPages().filter((other) => other.startsWith(`${posix.dirname(page)}/`) && !seen.has(other))
  if (below.length === 0) return entry
  for (const other of below) seen.add(other)
  return {
    ...entry,
    collapsed: true,
    items: below.map((other) => ({ text: titleOf(other), link: linkTo(other) })),
  }
}

function readLinks(section) {
  return [...section.matchAll(/\[([^\]]+)\]\(([^)#\s]+)[^)]*\)/g)].map(([, text, target]) => ({
    text,
    page: posix.normalize(posix.join(posix.dirname(MAP), target)),
  }))
}

function titleOf(page) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(page, 'utf8')) ?? []
  if (title === undefined) throw new Error(`${page} has no heading of its own: begin it with "# …"`)
  // Pages on situations begin with the situation's name.
  return title.replace(/^([a-z-]+): .+$/, '$1').replaceAll('`', '')
}

export function linkTo(page) {
  return `/${placeOf(page)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`
}
