/** Makes a `Store` of a backend: checks the arguments of every call in the same way for every kind of store. */

import { followSignals } from '../base/abort-signals.ts'
import { InvalidError, UnavailableError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import {
  STORE_BATCH_MAX_BYTES,
  STORE_BATCH_MAX_CONDITIONS,
  STORE_BATCH_MAX_OPERATIONS,
  STORE_KEY_MAX_BYTES,
  STORE_PAGE_ENTRIES,
  STORE_PAGE_MAX_ENTRIES,
  STORE_TTL_MAX_MS,
  STORE_VALUE_MAX_BYTES,
} from '../core/limits.ts'
import type { RangeRequest, Store, StoreBatch, StoreOperation, WatchNotice } from '../core/ports.ts'
import type { Backend, CheckedBatch, KeySpan, KeyStretch } from './backend.ts'
import { followChanges } from './follow-changes.ts'
import { compareKeys, endOfPrefix } from './key-order.ts'

/** No control characters, no halves of surrogate pairs. */
const KEY = /^[^\p{Cc}\p{Cs}]*$/u
/** Matches nearly every key, and is faster than the full check. */
const PLAIN_KEY = /^[ -~]*$/
/** A key with this suffix sorts after the key and before every longer one, as keys have no control characters. */
const JUST_BEHIND = '\u0001'

export function guardStore(backend: Backend): Store {
  const closed = new AbortController()
  let isOver = false
  const begin = (doing: string, signal: AbortSignal | undefined): AbortSignal | undefined => {
    if (isOver) throw isClosed(backend.name, doing)
    signal?.throwIfAborted()
    return signal
  }
  // No check: a malformed key is not found.
  const peek: Store['peek'] = (key) => {
    begin('read a key', undefined)
    return backend.peek?.(key)
  }
  const sizeBytes: Store['sizeBytes'] = async (options) =>
    (await backend.sizeBytes?.(begin('measure the store', options?.signal))) ?? 0
  const clearEach: Store['clearEach'] = async (prefixes, options) => {
    let signal = begin('delete by prefixes', options?.signal)
    const stretches = prefixes.map(stretchToClear)
    let counts = prefixes.map(() => 0)
    for (; stretches.length > 0; signal = begin('delete by prefixes', options?.signal)) {
      const cleared = await backend.clearSomeOfEach?.(stretches, signal)
      counts = counts.map((count, at) => count + (cleared?.counts[at] ?? 0))
      if (cleared?.more !== true) break
    }
    return counts
  }
  return {
    name: backend.name,
    ...(backend.sizeBytes === undefined ? {} : { sizeBytes }),
    ...(backend.peek === undefined ? {} : { peek }),
    get: async (key, options) => {
      const signal = begin('read a key', options?.signal)
      checkKey(key)
      return backend.get(key, signal)
    },
    range: async (request, options) => {
      const signal = begin('read a range', options?.signal)
      return backend.range(spanOf(request), signal)
    },
    commit: async (batch, options) => {
      const signal = begin('write a batch', options?.signal)
      return backend.commit(checkBatch(batch), signal)
    },
    clear: async (prefix, options) => {
      let signal = begin('delete by prefix', options?.signal)
      const stretch = stretchToClear(prefix)
      for (let count = 0; ; signal = begin('delete by prefix', options?.signal)) {
        const cleared = await backend.clearSome(stretch, signal)
        count += cleared.count
        if (!cleared.more) return count
      }
    },
    ...(backend.clearSomeOfEach === undefined ? {} : { clearEach }),
    watch: async function* (request): AsyncGenerator<WatchNotice, void, undefined> {
      const stretch = stretchOf(request.prefix)
      begin('watch', undefined)
      const followed = followSignals(request.signal, closed.signal)
      try {
        const feed = backend.openFeed(stretch)
        try {
          yield* followChanges(feed, { name: backend.name, after: request.after, signal: followed.signal })
        } finally {
          await feed.close()
        }
      } finally {
        followed.release()
      }
    },
    close: once(() => {
      isOver = true
      closed.abort(isClosed(backend.name, 'go on'))
      return backend.close()
    }),
  }
}

function isClosed(name: string, doing: string): UnavailableError {
  return new UnavailableError('stores/closed', `${doing} (${name}): the store is closed`, {
    details: { store: name },
    next: 'Open the store again.',
  })
}

function stretchToClear(prefix: string): KeyStretch {
  const stretch = stretchOf(prefix)
  if (prefix !== '') return stretch
  throw new InvalidError('stores/bad-prefix', 'delete by prefix: the empty prefix would delete everything', {
    next: 'Name a prefix.',
  })
}

function stretchOf(prefix: string): KeyStretch {
  checkText(prefix, 'prefix')
  return { from: prefix, to: endOfPrefix(prefix) }
}

function spanOf(request: RangeRequest): KeySpan {
  const { from, to } = stretchOf(request.prefix)
  const { after, order = 'ascending', limit = STORE_PAGE_ENTRIES } = request
  if (!Number.isInteger(limit) || limit < 1 || limit > STORE_PAGE_MAX_ENTRIES) {
    throw new InvalidError(
      'stores/bad-range',
      `read a range: the limit is ${limit}, it must be from 1 to ${STORE_PAGE_MAX_ENTRIES}`,
      { next: 'Read fewer, and then the next page.' },
    )
  }
  if (after === undefined) return { from, to, order, limit }
  checkText(after, 'place to continue')
  return order === 'ascending'
    ? { from: latest(from, after + JUST_BEHIND), to, order, limit }
    : { from, to: to === undefined || compareKeys(after, to) < 0 ? after : to, order, limit }
}

function latest(left: string, right: string): string {
  return compareKeys(left, right) < 0 ? right : left
}

/** Throws for a batch that exceeds a limit. */
export function checkBatch({ conditions = [], operations }: StoreBatch): CheckedBatch {
  checkCount('operations', operations, STORE_BATCH_MAX_OPERATIONS)
  checkCount('conditions', conditions, STORE_BATCH_MAX_CONDITIONS)
  let bytes = 0
  for (const operation of operations) bytes += checkKey(operation.key) + checkValue(operation)
  for (const condition of conditions) {
    bytes += checkKey(condition.key)
    if (condition.is === 'at' && !Number.isSafeInteger(condition.revision)) {
      throw new InvalidError('stores/bad-batch', `write a batch: ${condition.revision} is not a revision`, {
        next: 'Use a revision that was read.',
      })
    }
  }
  if (bytes > STORE_BATCH_MAX_BYTES) {
    throw new InvalidError(
      'stores/too-large',
      `write a batch: it has ${bytes} bytes, the maximum is ${STORE_BATCH_MAX_BYTES}`,
      { next: 'Write it in several batches, or store the data elsewhere and its address here.' },
    )
  }
  return { conditions, operations }
}

function checkCount(what: string, list: readonly { readonly key: string }[], most: number): void {
  if (list.length > most) {
    throw new InvalidError('stores/bad-batch', `write a batch: ${list.length} ${what}, at most ${most}`, {
      next: 'Split it.',
    })
  }
  if (hasTwice(list)) {
    throw new InvalidError('stores/bad-batch', `write a batch: one key is in several ${what}`, {
      next: 'Use only the last of them.',
    })
  }
}

/** Up to this length, comparing each with each is faster than a set. */
const COMPARED_MAX = 8

function hasTwice(list: readonly { readonly key: string }[]): boolean {
  if (list.length > COMPARED_MAX) return new Set(list.map(({ key }) => key)).size < list.length
  for (let at = 1; at < list.length; at += 1) {
    for (let before = 0; before < at; before += 1) if (list[before]?.key === list[at]?.key) return true
  }
  return false
}

function checkValue(operation: StoreOperation): number {
  if (operation.do === 'delete') return 0
  const { key, value, ttlMs } = operation
  if (value.byteLength > STORE_VALUE_MAX_BYTES) {
    throw new InvalidError(
      'stores/too-large',
      `write ${JSON.stringify(key)}: it has ${value.byteLength} bytes, the maximum is ${STORE_VALUE_MAX_BYTES}`,
      { next: 'Store the data elsewhere and its address here.' },
    )
  }
  if (ttlMs !== undefined && !(Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= STORE_TTL_MAX_MS)) {
    throw new InvalidError(
      'stores/bad-batch',
      `write ${JSON.stringify(key)}: ${ttlMs} is not a time to live in whole milliseconds`,
      { next: `Use one from 1 to ${STORE_TTL_MAX_MS}, or none.` },
    )
  }
  return value.byteLength
}

/** Returns the size of the key in bytes. */
function checkKey(key: string): number {
  checkText(key, 'key')
  if (key !== '') return Buffer.byteLength(key)
  throw new InvalidError('stores/bad-key', 'read "" as a key: it is empty', {
    next: 'Use a key that is not empty.',
  })
}

function checkText(text: unknown, what: string): asserts text is string {
  if (typeof text !== 'string') {
    throw new InvalidError(
      'stores/bad-key',
      `read a value of type ${typeof text} as a ${what}: it must be a string`,
      { next: 'Pass a string.' },
    )
  }
  if (!PLAIN_KEY.test(text) && !KEY.test(text)) {
    throw new InvalidError(
      'stores/bad-key',
      `read ${show(text)} as a ${what}: it has a control character or half a surrogate pair`,
      { next: 'Correct it.' },
    )
  }
  const bytes = text.length * 3 > STORE_KEY_MAX_BYTES ? Buffer.byteLength(text) : 0
  if (bytes > STORE_KEY_MAX_BYTES) {
    throw new InvalidError(
      'stores/bad-key',
      `read ${show(text)} as a ${what}: it has ${bytes} bytes, the maximum is ${STORE_KEY_MAX_BYTES}`,
      { next: 'Shorten it.' },
    )
  }
}

function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
