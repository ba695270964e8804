import { describe, expect, test } from 'vitest'
import { headlineOf, readPublication, sayWho } from './publication.ts'

const commit = { id: 'c', parents: ['p'], message: 'm' }

describe('what a commit says of its publication', () => {
  test('WB-28 workflow, task, attempt, worker and code revision are read', () => {
    const metadata = {
      ...{ 'publish.run': 'r', 'publish.workflow': 'w', 'publish.task': 'load', 'publish.attempt': '1' },
      ...{ 'publish.worker': 'one', 'publish.code_version': 'abc', 'publish.expected_head': 'p' },
    }
    const read = readPublication({ ...commit, metadata })
    expect(read).toEqual({
      ...{ by: 'attempt', run: 'r', workflow: 'w', task: 'load', attempt: 1, worker: 'one' },
      ...{ codeVersion: 'abc', isFenced: true },
    })
    expect(sayWho(read, 'Daily orders')).toBe('load, attempt 1 by one')
    expect(sayWho(read, 'Publish load, attempt 1')).toBe('one')
  })

  test.each([
    ['other', {}, ''],
    [
      'actor',
      { 'publish.run': 'r', 'publish.actor': 'operator', 'publish.task': 'orders' },
      'operator for orders',
    ],
    ['claim', { 'publish.run': 'r', 'publish.claim': 'c2' }, ''],
    ['attempt', { 'publish.run': 'r', 'publish.attempt': 'many' }, ''],
  ])('WB-28 a commit by %s is told', (by, metadata, who) => {
    const read = readPublication({ ...commit, metadata: metadata })
    expect([read.by, sayWho(read, ''), read.attempt]).toEqual([by, who, undefined])
  })

  test('WB-27 a staged commit that the branch was moved to reads as the publication that it is', () => {
    const of = (by: 'attempt' | 'other', message: string, isOnBranch: boolean): string =>
      headlineOf({ ...commit, message, metadata: {} }, { by, isFenced: false }, isOnBranch)
    expect(of('attempt', 'Stage load, attempt 1\nmore', true)).toBe('Publish load, attempt 1')
    expect(of('attempt', 'Stage load, attempt 1', false)).toBe('Stage load, attempt 1')
    expect(of('other', 'Stage fright', true)).toBe('Stage fright')
    expect(of('other', '', true)).toBe('no message')
  })

  test('WB-28 a staged commit of the Python package is told by its message', () => {
    expect(readPublication({ ...commit, message: 'perago try', metadata: {} }).by).toBe('python')
  })

  test.each([
    [JSON.stringify({ code: 'publication/branch-moved', message: 'moved' }), 'publication/branch-moved'],
    ['{', 'unreadable'],
    ['null', 'unreadable'],
    ['{"code":1}', 'unreadable'],
  ])('WB-28 the refusal in %j is read, or said to be unreadable', (evidence, code) => {
    const metadata = { 'publish.evidence': evidence }
    expect(readPublication({ ...commit, metadata })).toMatchObject({ by: 'evidence', refusal: { code } })
  })
})
