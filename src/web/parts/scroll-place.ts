/** What of a box is in sight, for lists of which only that is drawn. */

import { useEffect, useState } from 'preact/hooks'

export interface ScrollPlace {
  readonly top: number
  readonly height: number
}

/** Follows scrolling and size; `firstHeight` until the box is there. */
export function useScrollPlace(
  box: { readonly current: HTMLElement | null },
  firstHeight: number,
): ScrollPlace {
  const [place, setPlace] = useState({ top: 0, height: firstHeight })
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const look = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight })
    look()
    const watcher = new ResizeObserver(look)
    watcher.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      watcher.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  return place
}
