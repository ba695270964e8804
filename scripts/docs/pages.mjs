// Which files become pages of the site, under which address, and what their links become.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { posix } from 'node:path'

/** Pages outside `docs/`. */
const BESIDE = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'src/conductor/operations.md',
  'src/embedded/README.md',
  'src/lakefs/operations.md',
]

let listed

/** The Markdown files that become pages, as paths from the project's root. */
export function listPages() {
  listed ??= [...BESIDE, ...listMarkdown('docs'), ...listMarkdown('examples')].sort()
  return listed
}

/** The place of a page in the site: `docs/guides/recovery/README.md` is `guides/recovery/index.md`. */
export function placeOf(page) {
  if (page === 'docs/README.md') return 'documentation.md'
  return page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
}

/**
 * Where a link of a page leads in the site: to a page, to a file that is shown as it is, or nowhere (`undefined`), where it
 * names a folder. A link outside the project stays as it is.
 */
export function resolveLink(page, target) {
  if (/^([a-z]+:|#)/i.test(target)) return { href: target }
  const [path, anchor] = target.split('#')
  const to = posix.normalize(posix.join(posix.dirname(page), decodeURI(path)))
  if (!existsSync(to)) throw new Error(`${page} links to ${target}: there is no ${to}`)
  if (statSync(to).isDirectory()) return undefined
  if (!listPages().includes(to)) return { href: relative(page, `files/${to}.txt`), file: to }
  return { href: relative(page, placeOf(to)) + (anchor === undefined ? '' : `#${anchor}`) }
}

/** The anchor of a heading after GitHub's rule, so that a link holds here as it does there. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function relative(page, to) {
  const path = posix.relative(posix.dirname(placeOf(page)), to)
  return path.startsWith('.') ? path : `./${path}`
}

function listMarkdown(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !['node_modules', '.perago', '.vitepress'].includes(name))
    .flatMap((entry) => {
      const path = posix.join(directory, entry.name)
      if (entry.isDirectory()) return listMarkdown(path)
      return path.endsWith('.md') ? [path] : []
    })
}
