// What `docs/specs` promises and which ids a test title names. Used by `npm run specs` and by `test/tidy.test.ts`,
// so that both read these pages in the same way.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Pages without promises. */
const NOT_SPECS = new Set(['README.md', 'not-yet.md'])
const ROW = /^\|\s*`?([A-Z]{1,2}-\d+)`?\s*\|\s*(.*?)\s*\|/
/** `| E-02, E-20–E-27 | the reason |`: ids and ranges of ids that share a reason. */
const NOT_YET_ROW = /^\|\s*([A-Z]{1,2}-\d+(?:(?:–|,\s*)[A-Z]{1,2}-\d+)*)\s*\|\s*(.*?)\s*\|/
const TITLE_IDS = /^((?:[A-Z]{1,2}-\d+[,:]?\s+)+)\S/

/** Every promise: id → its page and its text. */
export function readSpecs(directory) {
  const specs = new Map()
  for (const page of readdirSync(directory).sort()) {
    if (!page.endsWith('.md') || NOT_SPECS.has(page)) continue
    for (const [id, text] of readRows(join(directory, page), ROW)) {
      const earlier = specs.get(id)
      if (earlier !== undefined) throw new Error(`${id} is promised twice: in ${earlier.page} and in ${page}`)
      specs.set(id, { page, text })
    }
  }
  return specs
}

/** The promises that no test proves yet: id → the reason. */
export function readNotYet(directory) {
  const notYet = new Map()
  const rows = readdirSync(directory).includes('not-yet.md')
    ? readRows(join(directory, 'not-yet.md'), NOT_YET_ROW)
    : []
  for (const [cell, reason] of rows) {
    for (const id of cell.split(/,\s*/).flatMap(expandRange)) {
      if (notYet.has(id)) throw new Error(`${id} is listed twice in not-yet.md`)
      notYet.set(id, reason)
    }
  }
  return notYet
}

/** The ids at the head of a title: `F-12 F-13 a stale attempt stops` names two. */
export function idsOfTitle(title) {
  const head = TITLE_IDS.exec(title)?.[1]
  return head === undefined ? [] : (head.match(/[A-Z]{1,2}-\d+/g) ?? [])
}

/** `E-20–E-22` → `E-20`, `E-21`, `E-22`; a single id is itself. */
function expandRange(range) {
  const [first, last = first] = range.split('–').map((id) => /^([A-Z]+)-(\d+)$/.exec(id))
  const count = Number(last[2]) - Number(first[2]) + 1
  if (first[1] !== last[1] || count < 1) throw new Error(`${range} in not-yet.md is not an ascending range`)
  return Array.from({ length: count }, (_, step) => {
    const number = String(Number(first[2]) + step)
    return `${first[1]}-${number.padStart(first[2].length, '0')}`
  })
}

function readRows(path, pattern) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const row = pattern.exec(line)
      return row === null ? [] : [[row[1], row[2]]]
    })
}
