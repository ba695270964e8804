// The site that `npm run docs` builds: what can be judged without building it. The gate builds it.
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judgePage, judgeStyle } from '../scripts/docs/check.mjs'
import { drawDiagram } from '../scripts/docs/diagrams.mjs'
import { linkTo, linksOf, readNavigation } from '../scripts/docs/navigation.mjs'
import { listPages, placeOf, resolveLink, slugOf } from '../scripts/docs/pages.mjs'
import { listFiles, readText } from './support/source-tree.ts'

describe('the side bar', () => {
  test('HO-60 it leads to every page of docs and examples, each once', () => {
    const links = linksOf(readNavigation())
    const pages = [...listFiles('docs'), ...listFiles('examples')].filter((path) => path.endsWith('.md'))
    const wanted = pages.filter((page) => page !== 'docs/README.md').map(linkTo)
    expect(wanted.filter((link) => !links.includes(link))).toEqual([])
    expect(links.filter((link, index) => links.indexOf(link) !== index)).toEqual([])
  })

  test('HO-60 it leads to every other page of the site, but the start page and the map', () => {
    const links = linksOf(readNavigation())
    const left = listPages().filter((page) => !links.includes(linkTo(page)))
    expect(left).toEqual(['README.md', 'docs/README.md'])
  })

  test('HO-60 no two pages have one place', () => {
    expect(new Set(listPages().map(placeOf)).size).toBe(listPages().length)
  })
})

describe('links', () => {
  test.each([
    ['docs/guides/plans.md', '../README.md', '../documentation.md'],
    ['docs/guides/plans.md', '../concepts/fences.md#the-hard-fence', '../concepts/fences.md#the-hard-fence'],
    ['docs/guides/plans.md', 'recovery/README.md', './recovery/index.md'],
    ['docs/README.md', '../CONTRIBUTING.md', './CONTRIBUTING.md'],
    ['README.md', 'LICENSE', './files/LICENSE.txt'],
    ['README.md', 'https://lakefs.io', 'https://lakefs.io'],
    ['README.md', '#licence', '#licence'],
  ])('HO-61 on the site, %s leads by %s to %s', (page, target, href) => {
    expect(resolveLink(page, target)?.href).toBe(href)
  })

  test('HO-61 a link that leads nowhere fails the build, naming page and link', () => {
    expect(() => resolveLink('docs/README.md', 'guides/none.md')).toThrow(
      'docs/README.md links to guides/none.md: there is no docs/guides/none.md',
    )
  })

  test('HO-61 a built page may link to pages and headings that are there, and load nothing from elsewhere', () => {
    const files = new Set(['index.html', 'guides/a.html', 'guides/index.html', 'files/LICENSE.txt'])
    const site = { base: '/p/', files, ids: new Map([['guides/a.html', new Set(['here'])]]) }
    const judge = (html: string): string[] => judgePage('guides/a.html', html, site)
    const fine = ['/p/', '/p/guides/a.html#here', '#here', './', '../files/LICENSE.txt', 'https://lakefs.io']
    expect(judge(fine.map((href) => `<a class="x" href="${href}">`).join(''))).toEqual([])
    expect(judge('<a href="b.html">')).toEqual(['guides/a.html links to b.html: there is no such page'])
    expect(judge('<a href="#there">')).toEqual(['guides/a.html links to #there: there is no such heading'])
    const elsewhere = 'https://fonts.example.org/a'
    for (const html of [
      `<script src="${elsewhere}">`,
      `<link rel="x" href="${elsewhere}">`,
      `<style>@import "${elsewhere}"`,
    ])
      expect(judge(html)).toEqual([`guides/a.html loads ${elsewhere}`])
    expect(judgeStyle('a.css', `src: url('//example.org/b')`)).toEqual(['a.css loads //example.org/b'])
    expect(judgeStyle('a.css', `src: url(/p/b.woff2)`)).toEqual([])
  })

  test('HO-61 a heading has the anchor that it has on GitHub', () => {
    expect(slugOf('What the soft fence cannot do')).toBe('what-the-soft-fence-cannot-do')
    expect(slugOf('`perago lakefs`, and 5 more')).toBe('perago-lakefs-and-5-more')
  })
})

describe('diagrams', () => {
  const diagrams = listPages().flatMap((page) =>
    [...readText(page).matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, source = '']) => ({
      page,
      source,
    })),
  )

  test('HO-62 every diagram is drawn with all of its texts, and loads nothing', () => {
    expect(new Set(diagrams.map(({ page }) => posix.basename(page)))).toEqual(
      new Set(['CONTRIBUTING.md', 'fences.md', 'recovery.md']),
    )
    for (const { page, source } of diagrams) {
      const drawn = drawDiagram(source)
      expect(drawn).not.toMatch(/@import|<style|https?:(?!\/\/www\.w3\.org\/)/)
      const texts = textsOf(drawn)
      expect({ page, missing: labelsOf(source).filter((label) => !texts.includes(label)) }).toEqual({
        page,
        missing: [],
      })
    }
  })

  test('HO-62 what is no diagram fails the build', () => {
    expect(() => drawDiagram('draw me a branch')).toThrow('Invalid mermaid header')
  })
})

/** What a diagram says: labels of arrows and nodes, messages, notes, and the names of cases. */
function labelsOf(source: string): string[] {
  const patterns = [
    /\|"?([^|"]+)"?\|/g,
    /\{"([^"]+)"\}/g,
    /^ *[A-Z]-->?>[A-Z]: (.+)$/gm,
    /^ *(?:alt|else) (.+)$/gm,
  ]
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map(([, label = '']) => label))
}

function textsOf(svg: string): string {
  const text = svg.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  return text
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
