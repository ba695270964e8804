/** What differs between two lists: Myers' greedy algorithm between what both begin and end with, as far as that is cheap. */

/** Above so many differences both middles are shown whole. */
const DIFFERENCES_MAX = 800

export interface Step {
  readonly kind: 'same' | 'removed' | 'added'
  /** Where it stands in the first list; -1 where it was added. */
  readonly before: number
  /** Where it stands in the second list; -1 where it was removed. */
  readonly after: number
}

export interface Difference {
  readonly steps: readonly Step[]
  /** False: too different to be lined up; the steps are true, but not the fewest. */
  readonly isAligned: boolean
}

export function diffLists(
  before: readonly string[],
  after: readonly string[],
  differencesMax: number = DIFFERENCES_MAX,
): Difference {
  const [a, b] = toNumbers(before, after)
  const shortest = Math.min(a.length, b.length)
  let head = 0
  while (head < shortest && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < shortest - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  const steps: Step[] = []
  for (let index = 0; index < head; index += 1) steps.push({ kind: 'same', before: index, after: index })
  const middle = { a: a.subarray(head, a.length - tail), b: b.subarray(head, b.length - tail) }
  const found = shortestPath(middle.a, middle.b, differencesMax)
  for (const step of found ?? replaceAll(middle.a.length, middle.b.length))
    steps.push({
      kind: step.kind,
      before: step.before < 0 ? -1 : step.before + head,
      after: step.after < 0 ? -1 : step.after + head,
    })
  for (let index = tail; index > 0; index -= 1)
    steps.push({ kind: 'same', before: a.length - index, after: b.length - index })
  return { steps, isAligned: found !== undefined }
}

/** The lines of a text; a line feed at the end begins no further line. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

/** Numbers are compared faster than texts. */
function toNumbers(before: readonly string[], after: readonly string[]): [Int32Array, Int32Array] {
  const known = new Map<string, number>()
  const number = (text: string): number => {
    const given = known.get(text) ?? known.size
    known.set(text, given)
    return given
  }
  return [Int32Array.from(before, number), Int32Array.from(after, number)]
}

function replaceAll(removed: number, added: number): Step[] {
  return [
    ...Array.from({ length: removed }, (_, before): Step => ({ kind: 'removed', before, after: -1 })),
    ...Array.from({ length: added }, (_, after): Step => ({ kind: 'added', before: -1, after })),
  ]
}

/** `undefined` where it takes more differences than allowed. */
function shortestPath(a: Int32Array, b: Int32Array, most: number): Step[] | undefined {
  const limit = Math.min(a.length + b.length, most)
  const reach = new Int32Array(2 * limit + 3)
  const trace: Int32Array[] = []
  const middle = limit + 1
  for (let cost = 0; cost <= limit; cost += 1) {
    trace.push(reach.slice(middle - cost - 1, middle + cost + 2))
    for (let line = -cost; line <= cost; line += 2) {
      const down = isDown(reach, middle + line, { line, cost })
      let x = down ? at(reach, middle + line + 1) : at(reach, middle + line - 1) + 1
      while (x < a.length && x - line < b.length && a[x] === b[x - line]) x += 1
      reach[middle + line] = x
      if (x >= a.length && x - line >= b.length) return walkBack(trace, a.length, b.length)
    }
  }
  return undefined
}

function isDown(
  reach: Int32Array,
  place: number,
  { line, cost }: { readonly line: number; readonly cost: number },
): boolean {
  return line === -cost || (line !== cost && at(reach, place - 1) < at(reach, place + 1))
}

function walkBack(trace: readonly Int32Array[], aLength: number, bLength: number): Step[] {
  const steps: Step[] = []
  let x = aLength
  let y = bLength
  for (let cost = trace.length - 1; cost >= 0; cost -= 1) {
    const reach = trace[cost] ?? new Int32Array()
    const line = x - y
    const place = cost + 1 + line
    const fromLine = isDown(reach, place, { line, cost }) ? line + 1 : line - 1
    const fromX = cost === 0 ? 0 : at(reach, cost + 1 + fromLine)
    const fromY = cost === 0 ? 0 : fromX - fromLine
    while (x > fromX && y > fromY) {
      x -= 1
      y -= 1
      steps.push({ kind: 'same', before: x, after: y })
    }
    if (cost === 0) break
    if (x === fromX) steps.push({ kind: 'added', before: -1, after: (y -= 1) })
    else steps.push({ kind: 'removed', before: (x -= 1), after: -1 })
  }
  return steps.reverse()
}

function at(list: Int32Array, index: number): number {
  return list[index] ?? 0
}

/** A part of a difference that is shown, or a run of equal lines that is left out until asked for. */
export type Piece = { readonly step: Step } | { readonly skipped: readonly Step[]; readonly from: number }

/** Leaves out equal lines that are far from every change. */
export function foldSame(steps: readonly Step[], opened: ReadonlySet<number>, around = 3): readonly Piece[] {
  const pieces: Piece[] = []
  for (let start = 0; start < steps.length;) {
    const first = steps[start]
    let end = start
    while (end < steps.length && (steps[end]?.kind === 'same') === (first?.kind === 'same')) end += 1
    const from = start === 0 ? start : start + around
    const to = end === steps.length ? end : end - around
    // One line takes as much room as the word about it.
    const isLong = first?.kind === 'same' && to - from > 1 && !opened.has(from)
    const show = (begin: number, stop: number): void => {
      for (const step of steps.slice(begin, stop)) pieces.push({ step })
    }
    if (isLong) {
      show(start, from)
      pieces.push({ skipped: steps.slice(from, to), from })
      show(to, end)
    } else show(start, end)
    start = end
  }
  return pieces
}
