import { getEventListeners } from 'node:events'
import { expect } from 'vitest'
import { fill, keysOf, numbered, put, remove, Watching, write, type StoreCase } from './scene.ts'

export const WATCH_CASES: Readonly<Record<string, StoreCase>> = {
  'ST-50 whatever is committed after a watch is ready is told, in its order': async ({
    store,
    openAnother,
  }) => {
    const other = await openAnother()
    await write(store, put('w:before'))
    const watching = await Watching.open(store, 'w:')
    await write(store, put('w:a'))
    await write(other, put('w:a', '2'), put('w:b'), remove('w:before'))
    await write(store, remove('w:a'))
    const changes = await watching.changes(5)
    expect(changes.filter(({ key }) => key === 'w:a').map(({ kind }) => kind)).toEqual([
      'put',
      'put',
      'delete',
    ])
    expect(
      changes
        .slice(1, 4)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['w:a', 'w:b', 'w:before'])
    await watching.close()
    await other.close()
  },

  'ST-50 a watch misses nothing of many concurrent writers': async ({ store, openAnother }) => {
    const stores = [store, await openAnother()]
    const watching = await Watching.open(store, 'm:')
    const keys = numbered('m:', 200)
    const writing = Promise.all(keys.map((key, at) => write(stores[at % 2]!, put(key))))
    const told = (await watching.changes(200)).map(({ key }) => key)
    expect(told.sort()).toEqual(keys)
    await writing
    await watching.close()
    await stores[1]!.close()
  },

  'ST-51 a watch tells of its own prefix alone, and of no change that changes nothing': async ({ store }) => {
    const watching = await Watching.open(store, 'w:')
    await write(store, put('v:1'), put('w'), put('w;'), remove('w:absent'))
    await write(store, put('w:1'), put('x:1'))
    expect(await watching.changes(1)).toEqual([{ key: 'w:1', kind: 'put' }])
    await watching.close()
  },

  'ST-52 a watch goes on from the cursor of another without losing anything': async ({
    store,
    openAnother,
  }) => {
    const first = await Watching.open(store, 'w:')
    await write(store, put('w:1'))
    const notice = await first.next()
    await first.close()
    await write(store, put('w:2'))
    await write(store, put('w:3'))
    const other = await openAnother()
    const second = new Watching(other, { prefix: 'w:', after: notice!.cursor })
    expect(await second.next()).toMatchObject({ kind: 'ready' })
    expect((await second.changes(2)).map(({ key }) => key)).toEqual(['w:2', 'w:3'])
    await second.close()
    await other.close()
  },

  'ST-53 a watch that asks for changes no longer known is told of a gap, and goes on': async ({
    store,
    forgetChanges,
  }) => {
    const first = await Watching.open(store, 'w:')
    await write(store, put('w:1'))
    const notice = await first.next()
    await first.close()
    await write(store, put('w:2'))
    await forgetChanges()
    const second = new Watching(store, { prefix: 'w:', after: notice!.cursor })
    const kinds: string[] = []
    while (kinds.at(-1) !== 'gap') {
      const next = await second.next()
      kinds.push(next?.kind ?? 'end')
      expect(kinds.length).toBeLessThan(4)
    }
    expect(kinds).not.toContain('changes')
    await write(store, put('w:3'))
    expect(await second.changes(1)).toEqual([{ key: 'w:3', kind: 'put' }])
    await second.close()
  },

  'ST-53 a cursor of another history gives a gap': async ({ store }) => {
    await write(store, put('w:1'))
    const watching = new Watching(store, { prefix: 'w:', after: 'nonsense' })
    const kinds = [(await watching.next())?.kind, (await watching.next())?.kind]
    expect(kinds).toEqual(['ready', 'gap'])
    await watching.close()
  },

  'ST-54 a watch ends when it is told to, and when the store is closed': async ({ store, openAnother }) => {
    const other = await openAnother()
    const [mine, others] = [await Watching.open(store, 'w:'), await Watching.open(other, 'w:')]
    const ends = [mine.next(), others.next()]
    await mine.close()
    await other.close()
    expect(await Promise.all(ends)).toEqual([undefined, undefined])
  },

  'BA-102 a watch follows its signal while it runs, and leaves no listener on it': async ({ store }) => {
    const { signal } = new AbortController()
    for await (const notice of store.watch({ prefix: 'w:', signal })) {
      expect(notice.kind).toBe('ready')
      expect(getEventListeners(signal, 'abort')).not.toEqual([])
      break
    }
    expect(getEventListeners(signal, 'abort')).toEqual([])
  },

  'ST-55 a deletion by prefix is told key by key': async ({ store }) => {
    const keys = numbered('w:', 120)
    await fill(store, keys)
    const watching = await Watching.open(store, 'w:')
    await store.clear('w:')
    const changes = await watching.changes(120)
    expect(changes.every(({ kind }) => kind === 'delete')).toBe(true)
    expect(changes.map(({ key }) => key).sort()).toEqual(keys)
    await watching.close()
  },

  'ST-123 a deletion by several prefixes is told key by key, to each watch what is its own': async ({
    store,
  }) => {
    if (store.clearEach === undefined) return
    const [mine, others] = [numbered('w:', 70), numbered('v:', 50)]
    await fill(store, [...mine, ...others])
    const watching = await Watching.open(store, 'w:')
    await store.clearEach(['v:', 'w:'])
    const changes = await watching.changes(70)
    expect(changes.every(({ kind }) => kind === 'delete')).toBe(true)
    expect(changes.map(({ key }) => key).sort()).toEqual(mine)
    await watching.close()
  },

  'ST-60 a closed store refuses, and may be closed again': async ({ openAnother, store }) => {
    await write(store, put('k'))
    const other = await openAnother()
    await Promise.all([other.close(), other.close()])
    await expect(other.get('k')).rejects.toMatchObject({ code: 'stores/closed', kind: 'unavailable' })
    await expect(other.range({ prefix: 'k' })).rejects.toMatchObject({ code: 'stores/closed' })
    await expect(other.commit({ operations: [put('k')] })).rejects.toMatchObject({ code: 'stores/closed' })
    await expect(other.clear('k')).rejects.toMatchObject({ code: 'stores/closed' })
    expect(await keysOf(store, '')).toEqual(['k'])
  },

  'ST-61 what is aborted before it begins is not begun': async ({ store }) => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(store.get('k', { signal })).rejects.toThrow('enough')
    await expect(store.commit({ operations: [put('k')] }, { signal })).rejects.toThrow('enough')
    expect(await store.get('k')).toBeUndefined()
  },
}
