/** The box that a drawing is scrolled in: where it is scrolled to, and how a wheel, a mouse and keys move it. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { neighbourOf, type Direction, type Layout, type Point } from './graph.ts'

const KEYS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

export interface Place {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export type Box = { readonly current: HTMLDivElement | null }

/** Read once per frame, however often it is scrolled. */
export function useScrolledPlace(box: Box): Place {
  const [place, setPlace] = useState<Place>({ left: 0, top: 0, width: 0, height: 0 })
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let frame = 0
    const look = (): void => {
      frame = 0
      setPlace({ left: element.scrollLeft, top: element.scrollTop, ...sizeOf(element) })
    }
    const plan = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    look()
    const watcher = new ResizeObserver(plan)
    watcher.observe(element)
    element.addEventListener('scroll', plan, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      watcher.disconnect()
      element.removeEventListener('scroll', plan)
    }
  }, [])
  return place
}

/** With Ctrl, which is also how browsers tell of two fingers; without it the wheel scrolls. */
export function useWheel(box: Box, zoom: (pointer: Point, isNearer: boolean) => void): void {
  const last = useRef(zoom)
  last.current = zoom
  useEffect(() => {
    const element = box.current
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const { left = 0, top = 0 } = element?.getBoundingClientRect() ?? {}
      last.current({ x: event.clientX - left, y: event.clientY - top }, event.deltaY < 0)
    }
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [])
}

/** A mouse moves the drawing by its ground. */
export function useDrag(box: Box): void {
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const over = new AbortController()
    const { signal } = over
    const move = (event: PointerEvent): void => {
      if ((event.buttons & 1) === 1) element.scrollBy(-event.movementX, -event.movementY)
    }
    const begin = (event: PointerEvent): void => {
      const isOfNode = (event.target as Element).closest('a') !== null
      if (event.pointerType !== 'mouse' || event.button !== 0 || isOfNode) return
      element.setPointerCapture(event.pointerId)
      element.addEventListener('pointermove', move, { signal })
    }
    element.addEventListener('pointerdown', begin, { signal })
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), { signal })
    return () => over.abort()
  }, [])
}

/** The next node is brought into sight, and has the focus when it is drawn. */
export function moveByKey(
  event: KeyboardEvent,
  layout: Layout,
  zoom: number,
  box: HTMLDivElement | null,
): void {
  const direction = KEYS[event.key]
  const from = (event.target as Element).getAttribute('data-node')
  const next =
    direction === undefined || from === null ? undefined : neighbourOf(layout.places, from, direction)
  const at = next === undefined ? undefined : layout.places[next]
  if (next === undefined || at === undefined || box === null) return
  event.preventDefault()
  const { width, height } = sizeOf(box)
  box.scrollTo({ left: at.x * zoom - width / 2, top: at.y * zoom - height / 2, behavior: 'instant' })
  // One frame for reading where it was scrolled to, one for drawing.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => box.querySelector<SVGAElement>(`[data-node="${CSS.escape(next)}"]`)?.focus()),
  )
}

function sizeOf(element: HTMLElement): { readonly width: number; readonly height: number } {
  return { width: element.clientWidth, height: element.clientHeight }
}
