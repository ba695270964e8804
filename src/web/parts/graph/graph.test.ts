import { describe, expect, test } from 'vitest'
import {
  firstZoom,
  isLineInSight,
  isNodeInSight,
  neighbourOf,
  NODE_WIDTH,
  scrollAfterZoom,
  shapeOf,
  sightOf,
  zoomToFit,
} from './graph.ts'

describe('a drawn graph', () => {
  test('WB-52 only nodes and edges that meet the part in sight are drawn, also when it is zoomed', () => {
    const sight = sightOf({ left: 1_000, top: 0, width: 500, height: 300 }, 0.5, 0)
    expect(sight).toEqual({ left: 2_000, top: 0, right: 3_000, bottom: 600 })
    expect(isNodeInSight({ x: 2_000 - NODE_WIDTH / 2 + 1, y: 10 }, sight)).toBe(true)
    expect(isNodeInSight({ x: 2_000 - NODE_WIDTH / 2 - 1, y: 10 }, sight)).toBe(false)
    expect(isNodeInSight({ x: 2_500, y: 626 }, sight)).toBe(false)
    const crossing = [
      { x: 0, y: 100 },
      { x: 9_000, y: 100 },
    ]
    expect(isLineInSight(crossing, sight)).toBe(true)
    expect(
      isLineInSight(
        crossing.map(({ x }) => ({ x, y: 700 })),
        sight,
      ),
    ).toBe(false)
  })

  test('WB-52 a large graph is opened so that it can be read, a small one whole and not enlarged', () => {
    const box = { width: 1_000, height: 500 }
    expect(firstZoom({ width: 20_000, height: 400 }, box)).toBe(0.6)
    expect(zoomToFit({ width: 20_000, height: 400 }, box)).toBe(0.1)
    expect(firstZoom({ width: 1_250, height: 100 }, box)).toBe(0.8)
    expect(firstZoom({ width: 100, height: 100 }, box)).toBe(1)
  })

  test('WB-52 what is below the pointer stays there when the drawing is zoomed', () => {
    const [scrolled, pointer] = [
      { x: 300, y: 40 },
      { x: 100, y: 60 },
    ]
    const after = scrollAfterZoom(scrolled, pointer, 2)
    expect((after.x + pointer.x) / 2).toBe(scrolled.x + pointer.x)
    expect((after.y + pointer.y) / 2).toBe(scrolled.y + pointer.y)
  })

  test('WB-53 arrow keys lead to the nearest node in their direction, and nowhere where there is none', () => {
    const places = {
      a: { x: 0, y: 0 },
      b: { x: 300, y: 10 },
      c: { x: 200, y: 200 },
      d: { x: 600, y: 0 },
    }
    expect(neighbourOf(places, 'a', 'right')).toBe('b')
    expect(neighbourOf(places, 'b', 'right')).toBe('d')
    expect(neighbourOf(places, 'd', 'left')).toBe('b')
    expect(neighbourOf(places, 'b', 'down')).toBe('c')
    expect(neighbourOf(places, 'a', 'left')).toBeUndefined()
    expect(neighbourOf(places, 'gone', 'left')).toBeUndefined()
  })

  test('WB-52 a graph whose states alone have changed is not laid out again', () => {
    const node = { id: 'a', title: 'a', note: '', state: 'RUNNING', to: '#/' }
    const graph = { nodes: [node], edges: [] }
    expect(shapeOf({ ...graph, nodes: [{ ...node, state: 'COMPLETED' }] })).toBe(shapeOf(graph))
    expect(shapeOf({ ...graph, nodes: [{ ...node, id: 'b' }] })).not.toBe(shapeOf(graph))
  })
})
