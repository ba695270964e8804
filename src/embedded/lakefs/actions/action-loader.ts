/** The actions of a tree: its action files, read in the thread of hooks. What was read before is not read again. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { messageOf } from '../../../base/errors.ts'
import { shortened } from '../../../base/one-line.ts'
import { ACTIONS_FOLDER } from '../../../base/reserved-paths.ts'
import {
  EMBEDDED_ACTION_CACHE_CHARS,
  EMBEDDED_ACTION_FILE_MAX_BYTES,
  EMBEDDED_ACTION_FILES_MAX_BYTES,
  EMBEDDED_HOOK_ERROR_MAX_BYTES,
} from '../../limits.ts'
import { EngineError, type Entry } from '../engine/engine.ts'
import { checkActionNames, readAction, type Action } from './action-file.ts'
import type { LuaPool } from './lua-pool.ts'

interface KnownAction {
  readonly action: Action
  readonly chars: number
}

type ActionLoader = (
  files: readonly Entry[],
  read: (entry: Entry) => Promise<Buffer>,
) => Promise<readonly Action[]>

export function createActionLoader(lua: LuaPool): ActionLoader {
  // The same few files come with every update.
  const known = new BoundedMap<string, KnownAction>({
    max: EMBEDDED_ACTION_CACHE_CHARS,
    evict: 'least-recently-used',
    weigh: ({ chars }) => chars,
  })
  return async (files, read) => {
    checkSizes(files)
    const texts: string[] = []
    for (const file of files) texts.push((await read(file)).toString('utf8'))
    const before = new Map(texts.map((text) => [text, known.get(text)?.action]))
    const unknown = [...before.keys()].filter((text) => before.get(text) === undefined)
    const parsed = unknown.length === 0 ? undefined : await lua.parse(unknown)
    const documents = new Map(unknown.map((text, index) => [text, parsed?.documents[index]]))
    const actions = files.map((file, index) =>
      inFile(file, () => {
        const text = texts[index] ?? ''
        const readBefore = before.get(text)
        if (readBefore !== undefined) return readBefore
        const document = documents.get(text)
        if (document === undefined) throw new Error(parsed?.error)
        const action = readAction(JSON.parse(document))
        known.set(text, { action, chars: text.length + document.length })
        return action
      }),
    )
    try {
      checkActionNames(actions)
    } catch (error) {
      throw badFile(messageOf(error), error)
    }
    return actions
  }
}

function checkSizes(files: readonly Entry[]): void {
  let bytes = 0
  for (const file of files) {
    inFile(file, () => {
      if (file.path.slice(ACTIONS_FOLDER.length).includes('/')) throw new Error('sub-folders are not allowed')
      if (file.sizeBytes > EMBEDDED_ACTION_FILE_MAX_BYTES) {
        throw new Error(`it is larger than ${EMBEDDED_ACTION_FILE_MAX_BYTES} bytes`)
      }
    })
    bytes += file.sizeBytes
  }
  if (bytes > EMBEDDED_ACTION_FILES_MAX_BYTES) {
    throw badFile(`the action files together are larger than ${EMBEDDED_ACTION_FILES_MAX_BYTES} bytes`)
  }
}

function inFile<Result>(file: Entry, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw badFile(`parsing file ${file.path}: ${messageOf(error)}`, error)
  }
}

function badFile(message: string, cause?: unknown): EngineError {
  return new EngineError('bad-action-file', shortened(message, EMBEDDED_HOOK_ERROR_MAX_BYTES), { cause })
}
