import { expect, test } from 'vitest'
import { MemoryNodeStore } from '../../../../../test/support/memory-node-store.ts'
import { toByteKey } from './byte-key.ts'
import { diffTrees } from './diff-trees.ts'
import { editTree } from './edit-tree.ts'
import { streamTree } from './tree-cursor.ts'
import { EMPTY_TREE } from './tree-node.ts'

const keys = Array.from({ length: 2000 }, (_, index) => toByteKey(`k${String(index).padStart(5, '0')}`))
const first = toByteKey('k00000')

function plant(value: string) {
  const store = new MemoryNodeStore()
  return {
    store,
    root: editTree(
      store,
      EMPTY_TREE,
      keys.map((key) => ({ key, value: Buffer.from(value) })),
    ),
  }
}

test('EE-03 seeking back does nothing, also where a node ends', () => {
  const { store, root } = plant('1')
  const stream = streamTree(store, root)
  const found: string[] = []
  for (let entry = stream.next(); entry !== undefined; entry = stream.next()) {
    found.push(entry.key)
    stream.seek(first)
  }
  expect(found).toEqual(keys)
})

test('EE-03 seeking back in a difference shows nothing twice', () => {
  const { store, root } = plant('1')
  const changed = editTree(
    store,
    root,
    keys.filter((_, index) => index % 3 === 0).map((key) => ({ key, value: Buffer.from('2') })),
  )
  const stream = diffTrees(store, { left: root, right: changed }, (a, b) => a.equals(b))
  const found: string[] = []
  for (let difference = stream.next(); difference !== undefined; difference = stream.next()) {
    found.push(difference.key)
    stream.seek(first)
  }
  expect(found).toEqual(keys.filter((_, index) => index % 3 === 0))
})
