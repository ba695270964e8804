import { expect } from 'vitest'
import { keysOf, numbered, put, text, Watching, write, writeIf, type StoreCase } from './scene.ts'

/** Long enough that a busy machine sees the entry before it is gone. */
const SHORT_MS = 1_500

export const EXPIRY_CASES: Readonly<Record<string, StoreCase>> = {
  'ST-30 an expired entry is absent to reads, ranges and conditions': async ({ store, outlive }) => {
    await write(store, put('e:gone', '1', SHORT_MS), put('e:stays', '1'), put('e:late', '1', 600_000))
    expect(await keysOf(store, 'e:')).toEqual(['e:gone', 'e:late', 'e:stays'])
    await outlive(SHORT_MS)
    await expect.poll(() => store.get('e:gone'), { timeout: 10_000 }).toBeUndefined()
    expect(await keysOf(store, 'e:')).toEqual(['e:late', 'e:stays'])
    expect(await writeIf(store, [{ key: 'e:gone', is: 'present' }], put('e:no'))).toMatchObject({
      committed: false,
      unmet: [{ key: 'e:gone', revision: undefined }],
    })
    expect(await writeIf(store, [{ key: 'e:gone', is: 'absent' }], put('e:gone', 'new'))).toMatchObject({
      committed: true,
    })
    expect(text(await store.get('e:gone'))).toBe('new')
  },

  'ST-31 a later put of the same key ends its time to live': async ({ store, outlive }) => {
    await write(store, put('e:renewed', '1', SHORT_MS))
    const revision = await write(store, put('e:renewed', '2'))
    await outlive(SHORT_MS)
    expect(await store.get('e:renewed')).toMatchObject({ revision })
  },

  'ST-32 a watch reports an expired entry as a deletion': async ({ store, outlive }) => {
    const watching = await Watching.open(store, 'e:')
    await write(store, put('e:gone', '1', SHORT_MS), put('e:stays', '1'))
    await watching.changes(2)
    await outlive(SHORT_MS)
    expect(await watching.changes(1)).toEqual([{ key: 'e:gone', kind: 'delete' }])
    await watching.close()
  },
  'ST-33 under load nothing goes early, nothing stays, and neighbours are left alone': async ({
    store,
    outlive,
  }) => {
    const [brief, lasting] = [numbered('brief:', 300), numbered('lasting:', 300)]
    const began = performance.now()
    for (let at = 0; at < brief.length; at += 10) {
      await Promise.all([
        write(store, ...brief.slice(at, at + 10).map((key) => put(key, 'b', SHORT_MS))),
        write(store, ...lasting.slice(at, at + 10).map((key) => put(key, 'l'))),
      ])
      const seen = (await keysOf(store, 'brief:')).length
      // What is missing may only be missing once the first of them may have come to its end.
      if (performance.now() - began < SHORT_MS) expect(seen).toBe(at + 10)
    }
    await outlive(SHORT_MS)
    expect(await keysOf(store, 'brief:')).toEqual([])
    expect(await keysOf(store, '')).toEqual(lasting)
    expect(await store.clear('brief:')).toBe(0)
  },
}
