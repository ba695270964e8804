/** Where action files stand in a tree. What they say is not the storage's business. */

import { EMBEDDED_ACTION_FILES_MAX } from '../../limits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type Entry, type HookEvent } from './engine.ts'
import { decodeEntry } from './entry-codec.ts'
import { toByteKey } from './tree/byte-key.ts'
import type { NodeStore } from './tree/node-store.ts'
import { streamTree, type TreeEntry } from './tree/tree-entries.ts'
import type { SortedStream } from './tree/sorted-stream.ts'
import type { NodeId } from './tree/tree-node.ts'

const ACTIONS_PREFIX = '_lakefs_actions/'

export function hasActionFiles(nodes: NodeStore, tree: NodeId): boolean {
  return streamActionFiles(nodes, tree).next()?.key.startsWith(ACTIONS_PREFIX) === true
}

export function hookEvent(
  { nodes }: EngineContext,
  event: {
    readonly type: HookEvent['type']
    readonly repository: string
    readonly branch: string
    readonly sourceRef: string
    readonly commit: Commit
    readonly tree: NodeId
  },
): HookEvent {
  const { tree, ...told } = event
  return { ...told, listActionFiles: () => listActionFiles(nodes, tree) }
}

function listActionFiles(nodes: NodeStore, tree: NodeId): readonly Entry[] {
  const files: Entry[] = []
  const stream = streamActionFiles(nodes, tree)
  for (let file = stream.next(); file?.key.startsWith(ACTIONS_PREFIX) === true; file = stream.next()) {
    if (files.length === EMBEDDED_ACTION_FILES_MAX) {
      throw new EngineError(
        'bad-action-file',
        `there are more than ${EMBEDDED_ACTION_FILES_MAX} action files`,
      )
    }
    files.push(decodeEntry(file.key, file.value))
  }
  return files
}

function streamActionFiles(nodes: NodeStore, tree: NodeId): SortedStream<TreeEntry> {
  const stream = streamTree(nodes, tree)
  stream.seek(toByteKey(ACTIONS_PREFIX))
  return stream
}
