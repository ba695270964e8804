import { useEffect } from 'preact/hooks'

const SETTLE_MS = 3_000
const TOUCHES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/** Brings the part with this id into sight; also while those above it are still loaded, unless somebody scrolls meanwhile. */
export function useSectionInSight(id: string | undefined): void {
  useEffect(() => {
    const main = document.getElementById('main')
    if (id === undefined || main === null) return undefined
    const over = new AbortController()
    const { signal } = over
    const watcher = new ResizeObserver(() => document.getElementById(id)?.scrollIntoView())
    const end = (): void => {
      over.abort()
      watcher.disconnect()
    }
    watcher.observe(main)
    for (const touch of TOUCHES) addEventListener(touch, end, { signal, passive: true })
    const timer = setTimeout(end, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [id])
}
