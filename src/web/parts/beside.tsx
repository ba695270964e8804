import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import './beside.css'

/** A list, and what is chosen in it: beside it where there is room, otherwise below and brought into sight. */
export function Beside({
  children,
  detail,
}: {
  readonly children: ComponentChildren
  readonly detail: ComponentChildren
}) {
  const box = useRef<HTMLDivElement>(null)
  const isChosen = detail !== undefined && detail !== false && detail !== null
  useEffect(() => {
    if (isChosen) box.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <div class={isChosen ? 'beside chosen' : 'beside'}>
      <div>{children}</div>
      {isChosen && (
        <div class="beside-detail" ref={box}>
          {detail}
        </div>
      )}
    </div>
  )
}
