/** Where action files are in a tree, and the running of hooks around an update. */

import { ACTIONS_FOLDER } from '../../../base/reserved-paths.ts'
import { EMBEDDED_ACTION_FILE_MAX_BYTES, EMBEDDED_ACTION_FILES_MAX } from '../../limits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Entry, type HookEvent } from './engine.ts'
import { decodeEntry } from './entry-codec.ts'
import { readBlob } from './object-bytes.ts'
import { toByteKey } from './tree/byte-key.ts'
import type { NodeStore } from './tree/node-store.ts'
import type { SortedStream } from './tree/sorted-stream.ts'
import { streamTree, type TreeEntry } from './tree/tree-cursor.ts'
import type { NodeId } from './tree/tree-node.ts'

export function hasActionFiles(nodes: NodeStore, tree: NodeId): boolean {
  return streamActionFiles(nodes, tree).next()?.key.startsWith(ACTIONS_FOLDER) === true
}

/** Runs the action files of a tree; throws what they refuse. */
export async function runHooks(
  context: EngineContext,
  event: Omit<HookEvent, 'listActionFiles'>,
  tree: NodeId,
): Promise<void> {
  const readFile = (entry: Entry): Promise<Buffer> =>
    readBlob(context, event.repository, entry.physicalAddress, EMBEDDED_ACTION_FILE_MAX_BYTES)
  await context.hooks?.({ ...event, listActionFiles: () => listActionFiles(context.nodes, tree) }, readFile)
}

function listActionFiles(nodes: NodeStore, tree: NodeId): readonly Entry[] {
  const files: Entry[] = []
  const stream = streamActionFiles(nodes, tree)
  for (let file = stream.next(); file?.key.startsWith(ACTIONS_FOLDER) === true; file = stream.next()) {
    if (files.length === EMBEDDED_ACTION_FILES_MAX) {
      throw new EngineError(
        'bad-action-file',
        `list actions from commit: there are more than ${EMBEDDED_ACTION_FILES_MAX} action files`,
      )
    }
    files.push(decodeEntry(file.key, file.value))
  }
  return files
}

function streamActionFiles(nodes: NodeStore, tree: NodeId): SortedStream<TreeEntry> {
  const stream = streamTree(nodes, tree)
  stream.seek(toByteKey(ACTIONS_FOLDER))
  return stream
}
