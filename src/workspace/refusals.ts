/** Everything that is refused: the first ones by name, and how many there are. */

import { WORKSPACE_REFUSALS_MAX, WORKSPACE_REFUSALS_SHOWN } from './limits.ts'

export interface Refusal {
  readonly path: string
  /** The end of a sentence that begins with the path. */
  readonly reason: string
}

export interface Refusals {
  /** The first ones. */
  readonly named: readonly Refusal[]
  /** How many there are in all. */
  readonly count: number
}

export class RefusalList implements Refusals {
  readonly #named: Refusal[] = []
  #count = 0

  get named(): readonly Refusal[] {
    return this.#named
  }

  get count(): number {
    return this.#count
  }

  add(path: string, reason: string): void {
    this.#count++
    if (this.#named.length < WORKSPACE_REFUSALS_MAX) this.#named.push({ path, reason })
  }
}

/** One line: `"a//b" has an empty segment; "c/" ends with a slash; and 3 more`. */
export function describeRefusals({ named, count }: Refusals): string {
  const shown = named.slice(0, WORKSPACE_REFUSALS_SHOWN)
  const parts = shown.map(({ path, reason }) => `${JSON.stringify(path)} ${reason}`)
  if (count > shown.length) parts.push(`and ${count - shown.length} more`)
  return parts.join('; ')
}
