import { expect } from 'vitest'
import type { Store } from '../../../src/core/ports.ts'
import { fill, keysOf, numbered, put, remove, text, write, writeIf, type StoreCase } from './scene.ts'

const WRITERS = 20

export const CONCURRENCY_CASES: Readonly<Record<string, StoreCase>> = {
  'ST-24 of many writers that all want to be first exactly one is': async ({ store, openAnother }) => {
    const stores = [store, await openAnother()]
    for (let round = 0; round < 5; round += 1) {
      const key = `first:${round}`
      const outcomes = await Promise.all(
        Array.from({ length: WRITERS }, (_, at) =>
          writeIf(stores[at % 2]!, [{ key, is: 'absent' }], put(key, String(at)), put(`${key}:${at}`)),
        ),
      )
      const winners = outcomes.flatMap(({ committed }, at) => (committed ? [at] : []))
      expect(winners).toHaveLength(1)
      expect(text(await store.get(key))).toBe(String(winners[0]))
      expect(await keysOf(store, `${key}:`)).toEqual([`${key}:${String(winners[0])}`])
    }
    await stores[1]!.close()
  },

  'ST-25 two batches that each forbid the other never both happen': async ({ store, openAnother }) => {
    const other = await openAnother()
    for (let round = 0; round < 20; round += 1) {
      const [left, right] = [`l:${round}`, `r:${round}`]
      const outcomes = await Promise.all([
        writeIf(store, [{ key: left, is: 'absent' }], put(right)),
        writeIf(other, [{ key: right, is: 'absent' }], put(left)),
      ])
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    }
    await other.close()
  },

  'ST-26 a counter that many raise under a condition loses no step': async ({ store, openAnother }) => {
    const stores = [store, await openAnother()]
    await write(store, put('n', '0'))
    const raise = async (mine: Store): Promise<void> => {
      for (;;) {
        const entry = (await mine.get('n'))!
        const next = put('n', String(Number(text(entry)) + 1))
        if ((await writeIf(mine, [{ key: 'n', is: 'at', revision: entry.revision }], next)).committed) return
      }
    }
    await Promise.all(Array.from({ length: 24 }, (_, at) => raise(stores[at % 2]!)))
    expect(text(await store.get('n'))).toBe('24')
    await stores[1]!.close()
  },

  'ST-124 of very many batches at once each has its own outcome, and a watch is told of those that happened':
    async ({ store, openAnother }) => {
      const other = await openAnother()
      const record = await write(store, put('record'), put('taken'), put('gone'))
      const end = new AbortController()
      const told = new Set<string>()
      let isReady = false
      const watching = (async () => {
        for await (const notice of store.watch({ prefix: 'many:', signal: end.signal })) {
          isReady = true
          if (notice.kind === 'changes') for (const { key } of notice.changes) told.add(key)
        }
      })()
      await expect.poll(() => isReady, { timeout: 20_000 }).toBe(true)
      const keys = numbered('many:', 300)
      const kinds = keys.map((_, at) => (['free', 'taken', 'old', 'removed'] as const)[at % 4]!)
      const outcomes = await Promise.all(
        keys.map((key, at) => {
          const standing = {
            key: 'record',
            is: 'at',
            revision: kinds[at] === 'old' ? record + 1 : record,
          } as const
          const free = { key: kinds[at] === 'taken' ? 'taken' : key, is: 'absent' } as const
          const also = kinds[at] === 'removed' ? remove(`none:${String(at)}`) : put(`${key}:also`)
          return writeIf(at % 8 < 4 ? store : other, [standing, free], put(key, key), also)
        }),
      )
      for (const [at, outcome] of outcomes.entries()) {
        const key = keys[at]!
        if (kinds[at] === 'taken')
          expect(outcome).toMatchObject({ unmet: [{ key: 'taken', revision: record }] })
        else if (kinds[at] === 'old')
          expect(outcome).toMatchObject({ unmet: [{ key: 'record', revision: record }] })
        else expect(outcome).toEqual({ committed: true, revision: (await store.get(key))?.revision })
      }
      const happened = keys.filter((_, at) => kinds[at] === 'free' || kinds[at] === 'removed')
      const also = keys.filter((_, at) => kinds[at] === 'free').map((key) => `${key}:also`)
      const expected = [...happened, ...also].sort()
      expect(await keysOf(store, 'many:')).toEqual(expected)
      await expect.poll(() => [...told].sort(), { timeout: 20_000 }).toEqual(expected)
      end.abort()
      await watching
      await other.close()
    },

  'ST-27 a page never shows half a batch': async ({ store, openAnother }) => {
    const other = await openAnother()
    const keys = numbered('h:', 40)
    await fill(store, keys, '0')
    const state = { isWriting: true }
    const writing = (async () => {
      for (let round = 1; round <= 15; round += 1) {
        // Backwards, so that a page that is read in pieces would meet the new half first.
        await write(other, ...[...keys].reverse().map((key) => put(key, String(round))))
      }
      state.isWriting = false
    })()
    let pages = 0
    while (state.isWriting || pages === 0) {
      const { entries } = await store.range({ prefix: 'h:', limit: 100 })
      expect(new Set(entries.map(text)).size).toBe(1)
      expect(entries).toHaveLength(40)
      pages += 1
      // A store in this process answers at once; the writer is to have its turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writing
    await other.close()
  },

  'ST-28 batches over the same keys in crossing order all end': async ({ store, openAnother }) => {
    const other = await openAnother()
    const keys = numbered('x:', 12)
    const rounds = Array.from({ length: 20 }, (_, at) => at)
    await Promise.all(
      rounds.flatMap((round) => [
        write(store, ...keys.map((key) => put(key, `up ${String(round)}`))),
        write(other, ...[...keys].reverse().map((key) => (round % 3 === 0 ? remove(key) : put(key, 'down')))),
      ]),
    )
    const { entries } = await store.range({ prefix: 'x:' })
    expect([0, keys.length]).toContain(entries.length)
    expect(new Set(entries.map(text)).size).toBeLessThanOrEqual(1)
    await other.close()
  },
}
