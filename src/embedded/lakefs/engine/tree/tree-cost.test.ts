import { expect, test } from 'vitest'
import { toByteKey } from './byte-key.ts'
import { diffTrees } from './diff-trees.ts'
import { editTree } from './edit-tree.ts'
import { MemoryNodeStore } from '../../../../../test/support/memory-node-store.ts'
import { decodeNode, EMPTY_TREE, encodeNode, nodeIdOf } from './tree-node.ts'

const COUNT = 50_000

function bigTree() {
  const store = new MemoryNodeStore()
  const edits = Array.from({ length: COUNT }, (_, index) => ({
    key: toByteKey(`data/part-${String(index).padStart(8, '0')}`),
    value: Buffer.from(`value ${index}`),
  }))
  return { store, root: editTree(store, EMPTY_TREE, edits) }
}

test('EE-06 one edit in a large tree reads and writes a few nodes, and so does finding it again', () => {
  const { store, root } = bigTree()
  const nodes = store.size
  expect(nodes).toBeGreaterThan(COUNT / 64)

  store.loads = 0
  const changed = editTree(store, root, [{ key: toByteKey('data/part-00025000'), value: Buffer.from('new') }])
  expect(store.loads).toBeLessThan(12)
  expect(store.size - nodes).toBeLessThan(8)

  store.loads = 0
  const difference = diffTrees(store, { left: root, right: changed }, (a, b) => a.equals(b))
  expect(difference.next()?.key).toBe('data/part-00025000')
  expect(difference.next()).toBeUndefined()
  expect(store.loads).toBeLessThan(16)
})

test('EE-06 an edit that changes nothing gives the very same root', () => {
  const { store, root } = bigTree()
  expect(editTree(store, root, [])).toBe(root)
  expect(editTree(store, root, [{ key: toByteKey('nothing here'), value: undefined }])).toBe(root)
})

test('EE-07 a node reads back as it was written and is named by its bytes', () => {
  const leaf = {
    level: 0 as const,
    keys: [toByteKey('a'), toByteKey('é')],
    values: [Buffer.from('1'), Buffer.alloc(0)],
  }
  const bytes = encodeNode(leaf)
  expect(decodeNode(bytes)).toEqual(leaf)
  const inner = { level: 3, keys: [toByteKey('é')], children: [nodeIdOf(bytes)] }
  expect(decodeNode(encodeNode(inner))).toEqual(inner)
})

test('EE-07 a node with bytes missing or left over is refused', () => {
  const bytes = encodeNode({ level: 0, keys: [toByteKey('a')], values: [Buffer.from('1')] })
  expect(() => decodeNode(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(/ends where its last item ends/)
  expect(() => decodeNode(bytes.subarray(0, bytes.length - 1))).toThrow()
  expect(() => decodeNode(Buffer.from([9, ...bytes.subarray(1)]))).toThrow(/format/)
})
