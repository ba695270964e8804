/** What is known of a variable besides its value: the server keeps only the present one. Pure. */

export interface SeenValue {
  readonly value: unknown
  readonly at: number
}

const SEEN_MAX = 50

/** The newest first; a value that has not changed is not a new one. */
export function addSeen(seen: readonly SeenValue[], value: unknown, at: number): readonly SeenValue[] {
  const last = seen[0]
  if (last !== undefined && JSON.stringify(last.value) === JSON.stringify(value)) return seen
  return [{ value, at }, ...seen].slice(0, SEEN_MAX)
}

/** The types of the events with which a variable is written; none tells of `shared.`, which every unit may write at any time. */
export function writersOf(name: string): readonly string[] {
  if (/^(?:pipeline\.input|system)\./.test(name)) return ['pipeline.started']
  if (name.startsWith('pipeline.output.')) return ['pipeline.completed']
  const [node = ''] = name.split('.')
  return node === 'shared' ? [] : [`${node}.completed`]
}
