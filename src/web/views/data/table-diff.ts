/** What differs between two tables, cell by cell. */

import { diffLists, type Step } from './line-diff.ts'

export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface Cell {
  readonly value: string
  /** What it was, where it was something else. */
  readonly was?: string
}

export interface TableRow {
  readonly kind: 'same' | 'changed' | 'added' | 'removed'
  readonly cells: readonly Cell[]
}

export interface TableColumn {
  readonly name: string
  readonly kind: 'same' | 'added' | 'removed'
}

export interface TableDifference {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly TableRow[]
  /** By which column rows are matched; `undefined`: by where they stand. */
  readonly key: string | undefined
  readonly counts: Readonly<Record<TableRow['kind'], number>>
}

/** Columns whose values name a row in both tables, the most likely first. */
export function keysOf(before: Table, after: Table): readonly string[] {
  const shared = before.columns.filter((name) => name !== '' && isOnce(before, name) && isOnce(after, name))
  const looksLikeKey = (name: string): number => (/(^|[_ ])(id|key|uuid|code)$/i.test(name) ? 0 : 1)
  return shared
    .filter((name) => isUnique(before, name) && isUnique(after, name) && isMostlyKept(before, after, name))
    .sort((one, other) => looksLikeKey(one) - looksLikeKey(other))
}

export function diffTables(before: Table, after: Table, key?: string): TableDifference {
  const names = [
    ...after.columns.map((name): TableColumn => ({
      name,
      kind: before.columns.includes(name) ? 'same' : 'added',
    })),
    ...before.columns
      .filter((name) => !after.columns.includes(name))
      .map((name): TableColumn => ({ name, kind: 'removed' })),
  ]
  const shape = { names, before, after, inBefore: placesOf(names, before), inAfter: placesOf(names, after) }
  const pairs = key === undefined ? pairByPlace(before, after) : pairByKey(before, after, key)
  const rows = pairs.map((pair) => showRow(shape, pair))
  const counts = { same: 0, changed: 0, added: 0, removed: 0 }
  for (const { kind } of rows) counts[kind] += 1
  return { columns: names, rows, key, counts }
}

type Pair = readonly [before: number, after: number]

/** Rows that stayed whole are found first; of those between them the first is taken for the first, and so on. */
function pairByPlace(before: Table, after: Table): readonly Pair[] {
  const whole = (row: readonly string[]): string => JSON.stringify(row)
  const { steps } = diffLists(before.rows.map(whole), after.rows.map(whole))
  const pairs: Pair[] = []
  let removed: Step[] = []
  let added: Step[] = []
  const settle = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      pairs.push([removed[index]?.before ?? -1, added[index]?.after ?? -1])
    removed = []
    added = []
  }
  for (const step of steps) {
    if (step.kind === 'removed') removed.push(step)
    else if (step.kind === 'added') added.push(step)
    else {
      settle()
      pairs.push([step.before, step.after])
    }
  }
  settle()
  return pairs
}

/** In the order of the second table; what was removed stands where it stood. */
function pairByKey(before: Table, after: Table, key: string): readonly Pair[] {
  const valueIn = (table: Table): ((row: readonly string[]) => string) => {
    const place = table.columns.indexOf(key)
    return (row) => row[place] ?? ''
  }
  const keyOfBefore = valueIn(before)
  const keyOfAfter = valueIn(after)
  const kept = new Set(after.rows.map(keyOfAfter))
  const places = new Map(before.rows.map((row, index) => [keyOfBefore(row), index]))
  const pairs: Pair[] = []
  let next = 0
  const passRemoved = (end: number): void => {
    for (; next < end; next += 1) {
      const row = before.rows[next]
      if (row !== undefined && !kept.has(keyOfBefore(row))) pairs.push([next, -1])
    }
  }
  after.rows.forEach((row, index) => {
    const place = places.get(keyOfAfter(row)) ?? -1
    passRemoved(place)
    pairs.push([place, index])
  })
  passRemoved(before.rows.length)
  return pairs
}

interface Shape {
  readonly names: readonly TableColumn[]
  readonly before: Table
  readonly after: Table
  /** Where each shown column stands in a table, -1 where it does not. */
  readonly inBefore: readonly number[]
  readonly inAfter: readonly number[]
}

function placesOf(names: readonly TableColumn[], { columns }: Table): readonly number[] {
  const seen = new Map<string, number>()
  return names.map(({ name }) => {
    const place = columns.indexOf(name, (seen.get(name) ?? -1) + 1)
    seen.set(name, place < 0 ? columns.length : place)
    return place
  })
}

function showRow({ names, before, after, inBefore, inAfter }: Shape, [from, to]: Pair): TableRow {
  const old = before.rows[from]
  const now = after.rows[to]
  if (old === undefined || now === undefined) {
    const [row, places] = now === undefined ? [old, inBefore] : [now, inAfter]
    const cells = places.map((place) => ({ value: row?.[place] ?? '' }))
    return { kind: now === undefined ? 'removed' : 'added', cells }
  }
  let isChanged = old.length > before.columns.length || now.length > after.columns.length
  isChanged &&= JSON.stringify(old) !== JSON.stringify(now)
  const cells = names.map((_, index): Cell => {
    const was = old[inBefore[index] ?? -1]
    const value = now[inAfter[index] ?? -1]
    // A column that is new or gone says so in its head.
    if (was === value || inBefore[index] === -1 || inAfter[index] === -1) return { value: value ?? was ?? '' }
    isChanged = true
    return { value: value ?? '', was: was ?? '' }
  })
  return { kind: isChanged ? 'changed' : 'same', cells }
}

function isOnce({ columns }: Table, name: string): boolean {
  return columns.indexOf(name) >= 0 && columns.indexOf(name) === columns.lastIndexOf(name)
}

function isUnique({ columns, rows }: Table, name: string): boolean {
  const place = columns.indexOf(name)
  const seen = new Set<string>()
  for (const row of rows) {
    const value = row[place] ?? ''
    if (value === '' || seen.has(value)) return false
    seen.add(value)
  }
  return true
}

/** A sum may be different in every row, and names none: of a key, half of the values stay at least. */
function isMostlyKept(before: Table, after: Table, name: string): boolean {
  const place = after.columns.indexOf(name)
  const old = before.columns.indexOf(name)
  const kept = new Set(after.rows.map((row) => row[place]))
  const fewest = Math.min(before.rows.length, after.rows.length)
  return before.rows.filter((row) => kept.has(row[old])).length * 2 >= fewest
}
