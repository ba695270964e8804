/** The lines of a history within one row. The shape of a commit says what became of it, so that nobody depends on the colour. */

import type { RowKind } from './history-rows.ts'
import type { LaneRow, Line } from './lanes.ts'

const LANE_PX = 16
const NAMES: Readonly<Record<RowKind, string>> = {
  line: 'commit of the branch',
  superseded: 'superseded: has left the branch',
  refused: 'refused: never came to the branch',
  staged: 'staged: not yet on the branch',
}

export interface GraphProps {
  readonly row: LaneRow
  readonly kind: RowKind
  /** How many lanes there is room for. */
  readonly lanes: number
  readonly heightPx: number
  readonly isMerge: boolean
}

export function Graph({ row, kind, lanes, heightPx, isMerge }: GraphProps) {
  const width = lanes * LANE_PX + 4
  const middle = heightPx / 2
  const x = xOf(row.lane)
  return (
    <svg
      class="graph"
      width={width}
      height={heightPx}
      viewBox={`0 0 ${String(width)} ${String(heightPx)}`}
      role="img"
      aria-label={isMerge ? `merge, ${NAMES[kind]}` : NAMES[kind]}
    >
      {row.lines.map((line) => (
        <path
          key={`${String(line.from)} ${String(line.to)}`}
          class={`lane lane-${String(colourOf(line, row.lane) % 6)}${line.isAside ? ' aside' : ''}`}
          d={pathOf(line, { lane: row.lane, middle, bottom: heightPx })}
        />
      ))}
      <Mark {...{ kind, x, middle, lane: row.lane }} />
    </svg>
  )
}

function Mark({
  kind,
  x,
  middle,
  lane,
}: {
  readonly kind: RowKind
  readonly x: number
  readonly middle: number
  readonly lane: number
}) {
  const name = `mark lane-${String(lane % 6)}`
  if (kind === 'line') return <circle class={name} cx={x} cy={middle} r={4.5} />
  if (kind === 'superseded') return <circle class={`${name} hollow`} cx={x} cy={middle} r={4.5} />
  const [left, right, top, bottom] = [x - 4.5, x + 4.5, middle - 4.5, middle + 4.5].map(String)
  const [across, down] = [String(x), String(middle)]
  const shape =
    kind === 'refused'
      ? `M${left} ${top}L${right} ${bottom}M${right} ${top}L${left} ${bottom}`
      : `M${across} ${top}L${right} ${down}L${across} ${bottom}L${left} ${down}Z`
  return <path class={`${name} hollow`} d={shape} />
}

function colourOf({ from, to, isAside }: Line, lane: number): number {
  return from ?? (isAside ? lane : (to ?? lane))
}

interface Frame {
  readonly lane: number
  readonly middle: number
  readonly bottom: number
}

function pathOf({ from, to }: Line, { lane, middle, bottom }: Frame): string {
  const [x1, y1] = from === undefined ? [xOf(lane), middle] : [xOf(from), 0]
  const [x2, y2] = to === undefined ? [xOf(lane), middle] : [xOf(to), bottom]
  if (x1 === x2) return `M${String(x1)} ${String(y1)}V${String(y2)}`
  const bend = (y1 + y2) / 2
  return `M${[x1, y1].join(' ')}C${[x1, bend, x2, bend, x2, y2].join(' ')}`
}

function xOf(lane: number): number {
  return lane * LANE_PX + 10
}
