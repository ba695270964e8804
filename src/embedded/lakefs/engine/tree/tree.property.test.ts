// Goal: the persistent tree is a sorted map, whatever was done to it in whatever order, and nothing of its past shows
// in its root. Method: every operation beside a naive model over a JavaScript Map sorted by Buffer.compare.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromByteKey, successorOfPrefix, toByteKey, type ByteKey } from './byte-key.ts'
import { diffTrees } from './diff-trees.ts'
import { editTree } from './edit-tree.ts'
import { heightOfKey } from './key-height.ts'
import { MemoryNodeStore } from '../../../../../test/support/memory-node-store.ts'
import { lookUp } from './node-store.ts'
import { overlayEntries } from './overlay-streams.ts'
import type { SortedStream } from './sorted-stream.ts'
import { streamTree } from './tree-cursor.ts'
import { EMPTY_TREE, isLeaf, type NodeId } from './tree-node.ts'

type Model = ReadonlyMap<string, string>
type Batch = ReadonlyMap<string, string | undefined>

// Many keys from few characters, so that batches meet; some beyond U+FFFF, where UTF-16 order is not byte order. Of
// the numbered ones about one in 32 ends a node, which makes trees of several levels.
const key = fc.oneof(
  { weight: 6, arbitrary: fc.nat(1500).map((n) => `k/${n}`) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', '/', '~'), minLength: 1, maxLength: 4 }),
  },
  {
    weight: 1,
    arbitrary: fc.string({
      unit: fc.constantFrom('é', '\ue000', '😀', 'z', '\0'),
      minLength: 1,
      maxLength: 3,
    }),
  },
)
const value = fc.constantFrom('1', '2', '3', '4')
const batch = fc
  .array(fc.tuple(key, fc.option(value, { nil: undefined, freq: 3 })), { maxLength: 400 })
  .map((pairs): Batch => new Map(pairs))
const model = fc.array(fc.tuple(key, value), { maxLength: 600 }).map((pairs): Model => new Map(pairs))

const bytes = (text: string): Buffer => Buffer.from(text)
const sorted = (keys: Iterable<string>): string[] =>
  [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
const same = (left: Buffer, right: Buffer): boolean => left.equals(right)

function edit(store: MemoryNodeStore, root: NodeId, edits: Batch): NodeId {
  const rows = sorted(edits.keys()).map((path) => {
    const text = edits.get(path)
    return { key: toByteKey(path), value: text === undefined ? undefined : bytes(text) }
  })
  return editTree(store, root, rows)
}

function applied(before: Model, edits: Batch): Model {
  const after = new Map(before)
  for (const [path, text] of edits) {
    if (text === undefined) after.delete(path)
    else after.set(path, text)
  }
  return after
}

function drain<Item extends { readonly key: ByteKey }>(stream: SortedStream<Item>): Item[] {
  const items: Item[] = []
  for (let item = stream.next(); item !== undefined; item = stream.next()) items.push(item)
  return items
}

function contentOf(store: MemoryNodeStore, root: NodeId): [string, string][] {
  return drain(streamTree(store, root)).map((entry) => [fromByteKey(entry.key), entry.value.toString()])
}

function contentOfModel(of: Model): [string, string][] {
  return sorted(of.keys()).map((path) => [path, of.get(path)!])
}

function differenceOfModels(left: Model, right: Model): [string, string | undefined, string | undefined][] {
  return sorted(new Set([...left.keys(), ...right.keys()]))
    .filter((path) => left.get(path) !== right.get(path))
    .map((path) => [path, left.get(path), right.get(path)])
}

test('EE-01 equal contents have equal roots, whatever was edited in whatever order before', () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 6 }), (batches) => {
      const store = new MemoryNodeStore()
      let root = EMPTY_TREE
      let expected: Model = new Map()
      for (const edits of batches) {
        root = edit(store, root, edits)
        expected = applied(expected, edits)
        const atOnce = edit(new MemoryNodeStore(), EMPTY_TREE, expected)
        expect(root).toBe(atOnce)
      }
    }),
  )
})

test('EE-01 a few edits of a large tree, most of them of keys that end nodes, leave the root that belongs to the contents', () => {
  const store = new MemoryNodeStore()
  const large: Model = new Map(Array.from({ length: 3000 }, (_, index) => [`k/${index}`, '1']))
  const root = edit(store, EMPTY_TREE, large)
  const ends = [...large.keys()].filter((path) => heightOfKey(toByteKey(path)) > 0)
  const fresh = Array.from({ length: 20_000 }, (_, index) => `k/0${index}`).filter(
    (path) => heightOfKey(toByteKey(path)) > 0,
  )
  const anyKey = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ends) },
    { weight: 1, arbitrary: fc.constantFrom(...fresh) },
    { weight: 1, arbitrary: fc.constantFrom(...large.keys()) },
  )
  const few = fc
    .array(fc.tuple(anyKey, fc.option(value, { nil: undefined, freq: 1 })), { minLength: 1, maxLength: 6 })
    .map((pairs): Batch => new Map(pairs))
  fc.assert(
    fc.property(few, (edits) => {
      const expected = applied(large, edits)
      const changed = edit(store, root, edits)
      expect(changed).toBe(edit(new MemoryNodeStore(), EMPTY_TREE, expected))
      const difference = drain(diffTrees(store, { left: root, right: changed }, same))
      expect(difference.map((item) => fromByteKey(item.key))).toEqual(
        differenceOfModels(large, expected).map(([path]) => path),
      )
    }),
  )
})

test('EE-02 a tree holds what a sorted map would hold after the same edits', () => {
  fc.assert(
    fc.property(model, batch, (before, edits) => {
      const store = new MemoryNodeStore()
      const root = edit(store, edit(store, EMPTY_TREE, before), edits)
      const expected = applied(before, edits)
      expect(contentOf(store, root)).toEqual(contentOfModel(expected))
      for (const path of [...before.keys(), ...edits.keys()]) {
        expect(lookUp(store, root, toByteKey(path))?.toString()).toBe(expected.get(path))
      }
    }),
  )
})

test('EE-02 nodes end only where the keys say, and the root is no chain', () => {
  fc.assert(
    fc.property(model, batch, (before, edits) => {
      const store = new MemoryNodeStore()
      const root = edit(store, edit(store, EMPTY_TREE, before), edits)
      const visit = (id: NodeId, isLast: boolean): void => {
        const node = store.load(id)
        node.keys.slice(0, -1).forEach((inner) => expect(heightOfKey(inner)).toBeLessThanOrEqual(node.level))
        if (!isLast) expect(heightOfKey(node.keys.at(-1)!)).toBeGreaterThan(node.level)
        if (isLeaf(node)) return
        if (id === root) expect(node.children.length).toBeGreaterThan(1)
        node.children.forEach((child, index) => {
          expect(store.load(child).keys.at(-1)).toBe(node.keys[index])
          visit(child, isLast && index === node.children.length - 1)
        })
      }
      visit(root, true)
    }),
  )
})

test('EE-02 a key that reaches high makes no chain of nodes above a small tree', () => {
  const high = Array.from({ length: 100_000 }, (_, index) => `z${index}`).find(
    (path) => heightOfKey(toByteKey(path)) > 2,
  )
  const store = new MemoryNodeStore()
  const root = edit(
    store,
    EMPTY_TREE,
    new Map([
      ['a', '1'],
      ['b', '1'],
      [high!, '1'],
    ]),
  )
  expect(isLeaf(store.load(root))).toBe(true)
})

test('EE-03 the difference of two trees is the difference of what they hold', () => {
  fc.assert(
    fc.property(model, batch, fc.option(key), (before, edits, from) => {
      const store = new MemoryNodeStore()
      const left = edit(store, EMPTY_TREE, before)
      const right = edit(store, left, edits)
      const expected = differenceOfModels(before, applied(before, edits)).filter(
        ([path]) => from === null || Buffer.compare(Buffer.from(path), Buffer.from(from)) >= 0,
      )
      for (const [pair, flip] of [
        [{ left, right }, false],
        [{ left: right, right: left }, true],
      ] as const) {
        const stream = diffTrees(store, pair, same)
        if (from !== null) stream.seek(toByteKey(from))
        const found = drain(stream).map((d) => [fromByteKey(d.key), d.left?.toString(), d.right?.toString()])
        expect(found).toEqual(expected.map(([path, l, r]) => (flip ? [path, r, l] : [path, l, r])))
      }
    }),
  )
})

test('EE-03 seeking in the middle of a difference leaves out what lies between and nothing else', () => {
  fc.assert(
    fc.property(model, model, fc.array(fc.tuple(fc.nat(3), key), { maxLength: 8 }), (a, b, steps) => {
      const store = new MemoryNodeStore()
      const pair = { left: edit(store, EMPTY_TREE, a), right: edit(store, EMPTY_TREE, b) }
      const stream = diffTrees(store, pair, same)
      let rest = differenceOfModels(a, b).map(([path]) => path)
      for (const [count, to] of steps) {
        for (let n = 0; n < count; n += 1) {
          const item = stream.next()
          expect(item && fromByteKey(item.key)).toBe(rest.shift())
        }
        stream.seek(toByteKey(to))
        rest = rest.filter((path) => Buffer.compare(Buffer.from(path), Buffer.from(to)) >= 0)
      }
      expect(drain(stream).map((item) => fromByteKey(item.key))).toEqual(rest)
    }),
  )
})

test('EE-04 changes laid over a tree read as if they had been made', () => {
  fc.assert(
    fc.property(model, batch, fc.option(key), (before, edits, from) => {
      const store = new MemoryNodeStore()
      const root = edit(store, EMPTY_TREE, before)
      const stream = overlayEntries(streamTree(store, root), streamOf(edits))
      if (from !== null) stream.seek(toByteKey(from))
      const expected = contentOfModel(applied(before, edits)).filter(
        ([path]) => from === null || Buffer.compare(Buffer.from(path), Buffer.from(from)) >= 0,
      )
      expect(drain(stream).map((e) => [fromByteKey(e.key), e.value.toString()])).toEqual(expected)
    }),
  )
})

test('EE-05 byte keys order as the UTF-8 bytes of their text and turn back into it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))).toBe(
        toByteKey(a) === toByteKey(b) ? 0 : toByteKey(a) < toByteKey(b) ? -1 : 1,
      )
      expect(fromByteKey(toByteKey(a))).toBe(Buffer.from(a).toString())
      const end = successorOfPrefix(toByteKey(a))
      if (end !== undefined) expect(toByteKey(a + b) < end).toBe(true)
    }),
  )
})

function streamOf(edits: Batch): SortedStream<{ readonly key: ByteKey; readonly value: Buffer | undefined }> {
  const rows = sorted(edits.keys()).map((path) => ({ path, text: edits.get(path) }))
  let at = 0
  return {
    next() {
      const row = rows[at]
      at += 1
      return row && { key: toByteKey(row.path), value: row.text === undefined ? undefined : bytes(row.text) }
    },
    seek(to) {
      while (at < rows.length && toByteKey(rows[at]!.path) < to) at += 1
    },
  }
}
