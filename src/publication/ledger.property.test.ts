// Goal: what was written into the metadata of a commit reads as the same entry, and nothing else ever reads as one.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attemptOf, freshOf } from '../../test/support/publication-world.ts'
import { branchName, repositoryName, type CommitRef } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import type { Authority } from './authority.ts'
import { judgeSignature, signLedger, type LedgerKeys } from './ledger-signature.ts'
import { readLedger, writeLedger, type Ledger, type RecordedResult } from './ledger.ts'
import type { Metadata } from './ports.ts'

const hex = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as CommitRef)
const text = fc.string({ unit: 'binary' })
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
const results: fc.Arbitrary<RecordedResult> = fc.oneof(
  json.map((value) => ({ kind: 'inline' as const, value })),
  fc.record({ kind: fc.constant('kept' as const), ref: hex, sha256: hex }),
  fc.record({
    kind: fc.constant('left-out' as const),
    why: fc.constantFrom('not-given' as const, 'too-large' as const, 'secret' as const, 'no-place' as const),
  }),
)

interface Written {
  readonly metadata: Metadata
  readonly ledger: Ledger
}

const repository = repositoryName('my-data')
const branch = branchName('main')

const written: fc.Arbitrary<Written> = fc
  .record({
    ...{ workflowId: text, task: text, taskId: text, workerId: text, runId: text, inputRef: hex },
    ...{ retryCount: fc.nat(), iteration: fc.nat(), result: results, isActor: fc.boolean() },
    codeVersion: fc.option(text, { nil: undefined }),
  })
  .map((given) => {
    const { runId, inputRef, codeVersion, result } = given
    const { workflowId, task, taskId, workerId, retryCount, iteration, isActor } = given
    const attempt = attemptOf({ taskId, workflowId, retryCount, workerId } as never)
    const authority: Authority = isActor
      ? { kind: 'actor', actor: workerId, subject: task, workflowId, executionId: runId, codeVersion }
      : {
          ...{ kind: 'attempt', attempt, readFresh: () => Promise.resolve(freshOf(attempt)) },
          ...{ referenceTaskName: task, seq: 1, iteration, executionId: runId, codeVersion },
        }
    const by: Ledger['by'] = isActor
      ? { kind: 'actor', actor: workerId, subject: task, workflowId }
      : { kind: 'attempt', workflowId, task, iteration, taskId, retryCount, workerId }
    const metadata = writeLedger({ authority, repository, branch, inputRef, result })
    return { metadata, ledger: { runId, repository, branch, inputRef, by, codeVersion, result } }
  })

const keys: LedgerKeys = {
  use: 'k1',
  keys: new Map([
    ['k1', Buffer.alloc(32, 1)],
    ['k2', Buffer.alloc(32, 2)],
  ]),
}

describe('the ledger in the metadata of a commit', () => {
  test('PU-160 what was written reads as the same entry, also beside keys of others', () => {
    fc.assert(
      fc.property(
        written,
        fc.dictionary(
          text.filter((key) => !key.startsWith('publish.')),
          text,
        ),
        (one, more) => {
          expect(readLedger({ ...more, ...one.metadata })).toEqual({ kind: 'entry', ledger: one.ledger })
          // As a claim, a fenced merge and a forward replacement add them.
          const added = { 'publish.expected_head': 'a', 'publish.claim': 'b', 'publish.replaces': 'c' }
          expect(readLedger({ ...one.metadata, ...added })).toMatchObject({ kind: 'entry' })
        },
      ),
    )
  })

  test('PU-161 an entry with a field changed, taken away or added reads as damaged', () => {
    fc.assert(
      fc.property(written, fc.nat(), text, ({ metadata }, nth, other) => {
        const names = Object.keys(metadata).filter((key) => key !== 'publish.ledger')
        const name = names[nth % names.length] ?? ''
        const { [name]: value, ...without } = metadata
        expect(readLedger(without).kind).toBe('unreadable')
        fc.pre(value !== other)
        expect(readLedger({ ...metadata, [name]: other }).kind).toBe('unreadable')
        const more = ['publish.actor', 'publish.result', 'publish.code_version'].find(
          (key) => !(key in metadata),
        )
        if (more !== undefined) expect(readLedger({ ...metadata, [more]: other }).kind).toBe('unreadable')
      }),
    )
  })

  test('PU-161 no metadata without a ledger reads as one, and none makes the reading throw', () => {
    const names = ['publish.run', 'publish.ledger', 'publish.result', 'publish.checksum', '__proto__', 'x']
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), text), (metadata) => {
        expect(readLedger(metadata).kind).toBe('publish.ledger' in metadata ? 'unreadable' : 'none')
      }),
    )
    expect(readLedger({ 'publish.ledger': '2' })).toMatchObject({ kind: 'unreadable' })
  })

  test('PU-162 a signature holds for this entry and this key alone', () => {
    fc.assert(
      fc.property(written, text, ({ metadata }, other) => {
        const signed = signLedger(metadata, keys)
        expect(readLedger(signed)).toEqual(readLedger(metadata))
        expect(judgeSignature(signed, keys)).toBe('valid')
        expect(judgeSignature(signed, { ...keys, use: 'k2' })).toBe('valid')
        expect(judgeSignature(metadata, keys)).toBe('unsigned')
        expect(judgeSignature(metadata, undefined)).toBe('valid')
        expect(judgeSignature(signed, undefined)).toBe('unknown-key')
        expect(judgeSignature(signed, { use: 'k2', keys: new Map([['k2', Buffer.alloc(32)]]) })).toBe(
          'unknown-key',
        )
        expect(judgeSignature(signed, { use: 'k1', keys: new Map([['k1', Buffer.alloc(32)]]) })).toBe(
          'forged',
        )
        const changed = { ...signed, 'publish.run': `${signed['publish.run'] ?? ''}${other}!` }
        expect(judgeSignature(changed, keys)).toBe('forged')
        const cut = (signed['publish.signature'] ?? '').slice(0, -1)
        expect(judgeSignature({ ...signed, 'publish.signature': cut }, keys)).toBe('forged')
      }),
    )
  })
})
