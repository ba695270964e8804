/**
 * Three-way merge of one path. Pure: values are compared by the caller's rule, and nothing is read here.
 *
 * | source against base | destination against base | decision |
 * |---|---|---|
 * | same                | anything                 | keep the destination's |
 * | changed             | same                     | take the source's |
 * | changed             | changed to the same      | keep the destination's |
 * | changed             | changed otherwise        | conflict |
 *
 * "Changed" includes added and removed.
 */

export type MergeDecision = 'keep' | 'take' | 'conflict'

interface ThreeValues<Value> {
  readonly base: Value | undefined
  readonly source: Value | undefined
  readonly destination: Value | undefined
}

export function decideMerge<Value>(
  { base, source, destination }: ThreeValues<Value>,
  same: (left: Value, right: Value) => boolean,
): MergeDecision {
  if (isSame(source, base, same) || isSame(source, destination, same)) return 'keep'
  return isSame(destination, base, same) ? 'take' : 'conflict'
}

function isSame<Value>(
  left: Value | undefined,
  right: Value | undefined,
  same: (left: Value, right: Value) => boolean,
): boolean {
  if (left === undefined || right === undefined) return left === right
  return same(left, right)
}
