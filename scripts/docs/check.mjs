// Reads what was built: every link leads somewhere, headings included, and no page loads anything from elsewhere.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

const ELSEWHERE = /^(https?:)?\/\//i

/** One sentence for each thing that is wrong with the site in a directory. */
export function judgeSite(directory, base) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(directory, posix.join(entry.parentPath, entry.name)))
  const texts = new Map(
    files
      .filter((file) => /\.(html|css)$/.test(file))
      .map((file) => [file, readFileSync(posix.join(directory, file), 'utf8')]),
  )
  const site = {
    base,
    files: new Set(files),
    ids: new Map([...texts].map(([file, text]) => [file, readIds(text)])),
  }
  return [...texts].flatMap(([file, text]) =>
    file.endsWith('.css') ? judgeStyle(file, text) : judgePage(file, text, site),
  )
}

export function judgeStyle(file, text) {
  return [...text.matchAll(/(?:url\(|@import )\s*["']?([^"')\s]+)/g)]
    .filter(([, address]) => ELSEWHERE.test(address))
    .map(([, address]) => `${file} loads ${address}`)
}

export function judgePage(file, text, site) {
  const loaded = [
    ...text.matchAll(
      /<(?:script|img|iframe|source|video|audio)\b[^>]*\ssrc="([^"]*)"|<link\b[^>]*\shref="([^"]*)"/g,
    ),
  ]
    .map(([, source, link]) => source ?? link)
    .filter((address) => ELSEWHERE.test(address))
    .map((address) => `${file} loads ${address}`)
  const links = [...text.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href]) =>
    href.replaceAll('&amp;', '&'),
  )
  return [
    ...loaded,
    ...judgeStyle(file, text),
    ...[...new Set(links)].flatMap((href) => judgeLink(file, href, site)),
  ]
}

function judgeLink(file, href, { base, files, ids }) {
  if (/^[a-z]+:/i.test(href) || ELSEWHERE.test(href)) return []
  const [path, anchor] = decodeURI(href).split('#')
  const from = path.startsWith('/') ? path.replace(base, '') : posix.join(posix.dirname(file), path)
  const place = path === '' ? file : posix.normalize(from)
  const to = [place, `${place}.html`, posix.join(place, 'index.html')].find((candidate) =>
    files.has(candidate),
  )
  if (to === undefined) return [`${file} links to ${href}: there is no such page`]
  if (anchor === undefined || anchor === '' || !to.endsWith('.html')) return []
  return ids.get(to).has(anchor) ? [] : [`${file} links to ${href}: there is no such heading`]
}

function readIds(text) {
  return new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))
}
