/** Where the lines of a history run beside its list, row by row from the newest on. */

/** A line within one row, from a lane at its top, or the commit in its middle, to a lane at its bottom. */
export interface Line {
  /** `undefined`: it begins at the commit. */
  readonly from: number | undefined
  /** `undefined`: it ends at the commit. */
  readonly to: number | undefined
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

/** Takes one commit after another, children before parents: what was laid out before stays as it is. */
export class Lanes {
  /** The commit that each lane waits for. */
  readonly #waiting: (string | undefined)[] = []

  add({ id, parents, isAside = false }: Node): LaneRow {
    const before = [...this.#waiting]
    const mine = before.indexOf(id)
    const lane = mine >= 0 ? mine : this.#free(isAside ? 1 : 0)
    const lines: Line[] = []
    before.forEach((awaited, index) => {
      if (awaited === id) {
        lines.push({ from: index, to: undefined })
        this.#waiting[index] = undefined
      } else if (awaited !== undefined) lines.push({ from: index, to: index })
    })
    parents.forEach((parent, index) => {
      const there = this.#waiting.indexOf(parent)
      const to =
        there >= 0 ? there : index === 0 && this.#waiting[lane] === undefined ? lane : this.#free(lane + 1)
      this.#waiting[to] = parent
      lines.push({ from: undefined, to })
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
