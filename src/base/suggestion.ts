/**
 * The candidate that is most similar, if it is similar enough.
 *
 * ```ts
 * suggest('endpont', ['endpoint', 'accessKeyId']) // 'endpoint'
 * ```
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
  return near.sort((left, right) => left.distance - right.distance)[0]?.candidate
}

/** Edit distance; swapping two neighbours counts as one edit. */
function editDistance(left: string, right: string): number {
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
        swapped ? at(before, column - 2) + 1 : Infinity,
      )
    }
    before = previous
    previous = current
  }
  return at(previous, right.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
