// One table at the end: what each side did, a row for each work.
import { printTable, round } from '../support/figures.mjs'

const NOTHING = '–'

export function openSummary(names) {
  const rows = []
  return {
    /** `cells`: the text of each side by its name. */
    add: (what, cells) => rows.push([what, cells]),
    print() {
      if (rows.length === 0) return
      console.log('## Summary\n')
      printTable(
        ['', ...names],
        rows.map(([what, cells]) => [what, ...names.map((name) => cells.get(name) ?? NOTHING)]),
      )
    },
  }
}

/** The text of each side. */
export function cellsOf(found, textOf) {
  return new Map([...found].map(([name, each]) => [name, textOf(each)]))
}

/** `a (b; c)` of figures. */
export function inBrackets(first, ...others) {
  return `${round(first)} (${others.map((value) => round(value)).join('; ')})`
}
