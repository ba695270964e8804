/** A scrolled box of rows of one height, of which only those in sight are in the document; wide rows scroll sideways together. */

import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useScrollPlace } from '../../parts/scroll-place.ts'

const AROUND = 10

export interface VirtualBoxProps {
  readonly label: string
  readonly role: 'table' | 'group'
  readonly count: number
  readonly rowPx: number
  /** How wide rows are, in characters. */
  readonly chars: number
  readonly head?: ComponentChildren
  readonly row: (index: number) => ComponentChildren
}

export function VirtualBox({ label, role, count, rowPx, chars, head, row }: VirtualBoxProps) {
  const box = useRef<HTMLDivElement>(null)
  const place = useScrollPlace(box, 500)
  const first = Math.min(count, Math.max(0, Math.floor(place.top / rowPx) - AROUND))
  const last = Math.min(count, Math.ceil((place.top + place.height) / rowPx) + AROUND)
  return (
    <div
      class="virtual"
      ref={box}
      tabIndex={0}
      role={role}
      aria-label={label}
      aria-rowcount={role === 'table' ? count + 1 : undefined}
    >
      <div style={{ minWidth: `${String(chars)}ch` }} role={role === 'table' ? 'rowgroup' : 'presentation'}>
        {head}
        <div aria-hidden="true" class="gap" style={{ height: `${String(first * rowPx)}px` }} />
        {Array.from({ length: Math.max(0, last - first) }, (_, index) => row(first + index))}
        <div aria-hidden="true" class="gap" style={{ height: `${String((count - last) * rowPx)}px` }} />
      </div>
    </div>
  )
}
