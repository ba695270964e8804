import { describe, expect, test } from 'vitest'
import { mergeFresh } from './fresh.ts'

const item = (id: string, state = 'RUNNING') => ({ id, state })
const idOf = ({ id }: { readonly id: string }): string => id
const show = (items: readonly { id: string; state: string }[]): string =>
  items.map(({ id, state }) => `${id}${state === 'RUNNING' ? '' : '!'}`).join('')

describe('a list that is kept fresh', () => {
  test('WB-54 new items come on top, known ones as they are now, older ones stay', () => {
    const loaded = ['d', 'c', 'b', 'a'].map((id) => item(id))
    const fresh = { items: [item('e'), item('d', 'FAILED'), item('c')], hasMore: true }
    expect(show(mergeFresh(fresh, loaded, idOf))).toBe('ed!cba')
    expect(mergeFresh(undefined, loaded, idOf)).toBe(loaded)
  })

  test('WB-54 what has left the filter leaves the list', () => {
    const loaded = ['d', 'c', 'b', 'a'].map((id) => item(id))
    expect(show(mergeFresh({ items: [item('d'), item('b')], hasMore: true }, loaded, idOf))).toBe('dba')
    expect(show(mergeFresh({ items: [item('b')], hasMore: false }, loaded, idOf))).toBe('b')
  })
})
