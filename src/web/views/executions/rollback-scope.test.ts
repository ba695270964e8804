import { expect, test } from 'vitest'
import { scopeOf } from './rollback-scope.ts'

test('WB-57 a rollback is asked for with the field that its level needs, and not before it is given', () => {
  expect(scopeOf({ level: 'last-good', name: 'left from before' })).toEqual({ level: 'last-good' })
  expect(scopeOf({ level: 'checkpoint', name: 'cp-1' })).toEqual({
    level: 'checkpoint',
    checkpoint_id: 'cp-1',
  })
  expect(scopeOf({ level: 'phase', name: 'load' })).toEqual({ level: 'phase', phase: 'load' })
  expect(scopeOf({ level: 'artifact', name: 'write' })).toEqual({ level: 'artifact', unit: 'write' })
  expect(scopeOf({ level: 'unit', name: ' ' })).toBeUndefined()
})
