// What `docs/specs` promises and which ids a test title names. Used by `npm run specs` and by the tidiness test,
// so that both read the shelf with the same eyes.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Pages on the shelf that promise nothing themselves. */
const NOT_SPECS = new Set(['README.md', 'not-yet.md'])
const ROW = /^\|\s*`?([A-Z]{1,2}-\d+)`?\s*\|\s*(.*?)\s*\|/
const TITLE_IDS = /^((?:[A-Z]{1,2}-\d+[,:]?\s+)+)\S/

/** Every promise on the shelf: id → the page it stands on and its words. */
export function readSpecs(directory) {
  const specs = new Map()
  for (const page of readdirSync(directory).sort()) {
    if (!page.endsWith('.md') || NOT_SPECS.has(page)) continue
    for (const { id, text } of readRows(join(directory, page))) {
      const earlier = specs.get(id)
      if (earlier !== undefined) throw new Error(`${id} stands twice: in ${earlier.page} and in ${page}`)
      specs.set(id, { page, text })
    }
  }
  return specs
}

/** The promises nobody proves yet: id → the reason. */
export function readNotYet(directory) {
  const notYet = new Map()
  const page = readdirSync(directory).includes('not-yet.md') ? readRows(join(directory, 'not-yet.md')) : []
  for (const { id, text } of page) {
    if (notYet.has(id)) throw new Error(`${id} stands twice in not-yet.md`)
    notYet.set(id, text)
  }
  return notYet
}

/** The ids at the head of a title: `F-12 F-13 a stale attempt stops` names two. */
export function idsOfTitle(title) {
  const head = TITLE_IDS.exec(title)?.[1]
  return head === undefined ? [] : (head.match(/[A-Z]{1,2}-\d+/g) ?? [])
}

function readRows(path) {
  const rows = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const row = ROW.exec(line)
    if (row !== null) rows.push({ id: row[1], text: row[2] })
  }
  return rows
}
