// Goal: keys of the ledger are read as they are written, and a mistake is found before a task is taken.
import { expect, test } from 'vitest'
import { ledgerOf } from './ledger-settings.ts'

const keyOf = (byte: number, bytes = 32): string => Buffer.alloc(bytes, byte).toString('base64')

test('PU-162 the first key signs, all are accepted, and an unusable one is refused', () => {
  const keys = `new=${keyOf(1)},\nold=${keyOf(2)}`
  expect(ledgerOf({ ledger: { onRetry: 'adopt', keys } })).toEqual({
    onRetry: 'adopt',
    keys: {
      use: 'new',
      keys: new Map([
        ['new', Buffer.alloc(32, 1)],
        ['old', Buffer.alloc(32, 2)],
      ]),
    },
  })
  expect(ledgerOf({})).toEqual({ onRetry: 'replace' })
  for (const bad of ['', 'no key', `a:b=${keyOf(1)}`, `short=${keyOf(1, 31)}`, `ok=${keyOf(1)} bad`])
    expect(() => ledgerOf({ ledger: { onRetry: 'replace', keys: bad } })).toThrow('ledger.keys')
})
