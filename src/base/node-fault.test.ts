// Goal: what the machine lacks is told apart from what the work did wrong, however deep it is in an error.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { UnavailableError } from './errors.ts'
import { nodeFaultOf } from './node-fault.ts'

function systemError(code: string, more: object = {}): Error {
  return Object.assign(new Error(code), { code, ...more })
}

function thrownBy(action: () => void): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'SQLITE_FULL', 'SQLITE_NOMEM'])(
  'BA-220 %s is a fault of the machine',
  (code) => {
    expect(nodeFaultOf(systemError(code))).toMatchObject({ code, what: expect.any(String) as string })
  },
)

test.each(['ENOENT', 'EACCES', 'ENOTDIR', 'ECONNREFUSED', 'ETIMEDOUT', 'EAGAIN', 'toString'])(
  'BA-220 %s is none',
  (code) => {
    expect(nodeFaultOf(systemError(code))).toBeUndefined()
  },
)

test('BA-220 it is found behind other errors, with the path the system named', () => {
  const full = systemError('ENOSPC', { path: '/data/x' })
  const wrapped = new UnavailableError('workspace/disk-full', 'write a file: the disk is full', {
    cause: full,
  })
  const gathered = new AggregateError([new Error('another'), wrapped], 'two failed')
  expect(nodeFaultOf(new Error('outermost', { cause: gathered }))).toEqual({
    code: 'ENOSPC',
    what: 'the disk is full',
    path: '/data/x',
  })
})

test('BA-220 an error that is its own cause, and what is no error, has none', () => {
  const circle = new Error('round')
  circle.cause = circle
  for (const thrown of [circle, 'ENOSPC', undefined, null, { code: 'ENOSPC' }])
    expect(nodeFaultOf(thrown)).toBeUndefined()
})

test('BA-220 the operating system’s own errors are recognised', async (context) => {
  if (process.platform !== 'linux') context.skip('/dev/full is on Linux alone')
  expect(nodeFaultOf(thrownBy(() => writeFileSync('/dev/full', 'x')))).toMatchObject({ code: 'ENOSPC' })
  const child = spawn('/no/such/program')
  const [missing] = (await once(child, 'error')) as [Error]
  expect(nodeFaultOf(missing)).toBeUndefined()
  expect(nodeFaultOf(systemError('EAGAIN', { syscall: 'spawn node' }))).toMatchObject({ code: 'EAGAIN' })
})
