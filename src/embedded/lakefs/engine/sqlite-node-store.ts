/** Tree nodes in SQLite, with the last used ones decoded in memory. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { MissingError } from '../../../base/errors.ts'
import { EMBEDDED_NODE_CACHE_BYTES } from '../../limits.ts'
import type { MetadataDb } from './metadata-db.ts'
import { corrupt } from './storage-errors.ts'
import type { NodeStore } from './tree/node-store.ts'
import {
  decodeNode,
  EMPTY_LEAF,
  EMPTY_TREE,
  encodeNode,
  nodeIdOf,
  type NodeId,
  type TreeNode,
} from './tree/tree-node.ts'

export class SqliteNodeStore implements NodeStore {
  readonly #db: MetadataDb
  readonly #cache = new BoundedMap<NodeId, { readonly node: TreeNode; readonly bytes: number }>({
    max: EMBEDDED_NODE_CACHE_BYTES,
    evict: 'least-recently-used',
    weigh: ({ bytes }) => bytes,
  })

  constructor(db: MetadataDb) {
    this.#db = db
  }

  has(id: NodeId): boolean {
    if (id === EMPTY_TREE) return true
    return this.#db.get('SELECT 1 AS found FROM nodes WHERE id = ?', Buffer.from(id, 'hex')) !== undefined
  }

  load(id: NodeId): TreeNode {
    if (id === EMPTY_TREE) return EMPTY_LEAF
    const cached = this.#cache.get(id)
    if (cached !== undefined) return cached.node
    const sql = 'SELECT bytes FROM nodes WHERE id = ?'
    const row = this.#db.get<{ bytes: Buffer }>(sql, Buffer.from(id, 'hex'))
    const { file } = this.#db
    if (row === undefined) {
      throw new MissingError('embedded/no-such-node', `read tree node ${id} in ${file}: it is missing`, {
        details: { file, node: id },
        next: 'The data directory is damaged: restore it from a copy.',
      })
    }
    if (nodeIdOf(row.bytes) !== id) throw corrupt(file, `the bytes of tree node ${id} do not match its id`)
    const node = decodeNode(row.bytes)
    this.#cache.set(id, { node, bytes: row.bytes.length })
    return node
  }

  save(node: TreeNode): NodeId {
    const bytes = encodeNode(node)
    const id = nodeIdOf(bytes)
    if (id === EMPTY_TREE) return id
    // Not skipped for a cached node: the write that stored it may have been rolled back.
    this.#db.run('INSERT OR IGNORE INTO nodes (id, bytes) VALUES (?, ?)', Buffer.from(id, 'hex'), bytes)
    if (!this.#cache.has(id)) this.#cache.set(id, { node, bytes: bytes.length })
    return id
  }
}
