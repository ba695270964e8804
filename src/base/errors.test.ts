import { expect, test } from 'vitest'
import {
  DefectError,
  ERROR_KINDS,
  errorKindOf,
  EXIT_CODE,
  GRPC_STATUS,
  HTTP_STATUS,
  InvalidError,
  invariant,
  isPeragoError,
  messageOf,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
  unreachable,
} from './errors.ts'

test('BA-56 every kind has its exit code and its statuses, and its class says it', () => {
  for (const table of [EXIT_CODE, HTTP_STATUS, GRPC_STATUS]) {
    expect(Object.keys(table).sort()).toEqual([...ERROR_KINDS].sort())
  }
  const made = [
    new InvalidError('base/x', 'x'),
    new MissingError('base/x', 'x'),
    new RefusedError('base/x', 'x'),
    new UnavailableError('base/x', 'x'),
    new UncertainError('base/x', 'x', { read: 'the head' }),
    new DefectError('base/x', 'x'),
  ]
  expect(made.map(errorKindOf)).toEqual([...ERROR_KINDS])
  expect(made.map(({ name }) => name)).toContain('UncertainError')
})

test('BA-57 an error of another copy of the package is known as ours', async () => {
  // A query makes the loader take the same file for another module.
  const specifier = './errors.ts?copy'
  const copy = (await import(/* @vite-ignore */ specifier)) as { MissingError: typeof MissingError }
  const foreign = new copy.MissingError('base/x', 'x')
  expect(foreign).not.toBeInstanceOf(MissingError)
  expect(isPeragoError(foreign)).toBe(true)
  expect(errorKindOf(foreign)).toBe('missing')
  for (const thrown of [new Error('x'), 'x', undefined, null, { kind: 'missing' }]) {
    expect(isPeragoError(thrown)).toBe(false)
    expect(errorKindOf(thrown)).toBe('defect')
  }
})

test('BA-58 a broken invariant and an impossible case are defects', () => {
  expect(() => invariant(true, 'all is well')).not.toThrow()
  expect(() => invariant(false, 'the sky is up')).toThrow(
    expect.objectContaining({
      code: 'base/invariant',
      kind: 'defect',
      message: 'invariant broken: the sky is up',
    }),
  )
  expect(() => unreachable('x' as never, 'choose')).toThrow(
    expect.objectContaining({ code: 'base/unreachable' }),
  )
})

test('BA-52 anything thrown has a message, whatever it is', () => {
  class Silent extends Error {
    override readonly name = 'Silent'
  }
  const breaking = {
    toString() {
      throw new Error('no text')
    },
  }
  const thrown = [new Error('away'), new Silent(), 'text', 42, null, undefined, Symbol('s'), breaking]
  const shown = ['away', 'Silent', 'text', '42', 'null', 'undefined', 'Symbol(s)', '[object Object]']
  expect(thrown.map(messageOf)).toEqual(shown)
})
