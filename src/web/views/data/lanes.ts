/** Where the lines of a history run beside its list, row by row from the newest on. */

/** A line within one row, from a lane at its top, or the commit in its middle, to a lane at its bottom. */
export interface Line {
  /** `undefined`: it begins at the commit. */
  readonly from: number | undefined
  /** `undefined`: it ends at the commit. */
  readonly to: number | undefined
  /** It comes from what hangs beside the line. */
  readonly isAside: boolean
}

export interface LaneRow {
  /** The lane of the commit. */
  readonly lane: number
  readonly lines: readonly Line[]
  /** How many lanes the row has. */
  readonly width: number
}

interface Node {
  readonly id: string
  readonly parents: readonly string[]
  /** Begins to the right of the line that it has left. */
  readonly isAside?: boolean
}

/**
 * Takes one commit after another, children before parents: what was laid out before stays as it is. What hangs beside the line
 * never takes the line's lane.
 */
export class Lanes {
  /** The commit that each lane waits for. */
  readonly #waiting: (Waiting | undefined)[] = []

  add({ id, parents, isAside = false }: Node): LaneRow {
    const before = [...this.#waiting]
    const mine = before.findIndex((awaited) => awaited?.id === id && (isAside || !awaited.isAside))
    const lane = mine >= 0 ? mine : this.#free(isAside ? 1 : 0)
    const lines: Line[] = []
    before.forEach((awaited, index) => {
      if (awaited === undefined) return
      const ends = awaited.id === id
      lines.push({ from: index, to: ends ? undefined : index, isAside: awaited.isAside })
      if (ends) this.#waiting[index] = undefined
    })
    parents.forEach((parent, index) => {
      // A line of the branch does not go on as one beside it.
      const there = this.#waiting.findIndex(
        (awaited) => awaited?.id === parent && (isAside || !awaited.isAside),
      )
      const isMyLaneFree = index === 0 && this.#waiting[lane] === undefined
      const to = there >= 0 ? there : isMyLaneFree ? lane : this.#free(lane + 1)
      if (there < 0) this.#waiting[to] = { id: parent, isAside }
      lines.push({ from: undefined, to, isAside })
    })
    while (this.#waiting.length > 0 && this.#waiting.at(-1) === undefined) this.#waiting.pop()
    return { lane, lines, width: Math.max(before.length, this.#waiting.length, lane + 1) }
  }

  #free(from: number): number {
    for (let index = from; index < this.#waiting.length; index += 1)
      if (this.#waiting[index] === undefined) return index
    return Math.max(from, this.#waiting.length)
  }
}

interface Waiting {
  readonly id: string
  readonly isAside: boolean
}
