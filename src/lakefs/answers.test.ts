import { describe, expect, test } from 'vitest'
import { classifyAnswer, classifyBreak, STATUS_ROWS, TROUBLE_KIND, type Answer } from './answers.ts'
import { OPERATIONS, operationRow, type OperationName } from './operations.ts'

const names = Object.keys(OPERATIONS) as OperationName[]
const json = (status: number, message = 'said so'): Answer => ({ status, isJson: true, message })
const page = (status: number): Answer => ({ status, isJson: false, message: undefined })

describe.each(names)('%s', (name) => {
  const row = operationRow(name)

  test('LC-04 its own success is done, and no other success is', () => {
    for (const status of [200, 201, 202, 204, 206]) {
      const { is } = classifyAnswer(name, json(status))
      if (row.done.includes(status)) expect(is).toBe('done')
      else expect(is).toBe('error')
    }
  })

  test('LC-05 what it foresees is a value, every other status of the table is that error', () => {
    for (const [text, statusRow] of Object.entries(STATUS_ROWS)) {
      const status = Number(text)
      const expected = row.values[status]
      const verdict = classifyAnswer(name, json(status))
      if (expected !== undefined && status !== 401) expect(verdict).toEqual({ is: expected })
      else expect(verdict).toMatchObject({ is: 'error', kind: statusRow.kind, code: statusRow.code })
    }
  })

  test('LC-06 trouble of the server leaves it as its class says', () => {
    for (const status of [500, 502, 504, 599]) {
      const verdict = classifyAnswer(name, json(status))
      expect(verdict).toMatchObject({ kind: TROUBLE_KIND[row.class], code: 'lakefs/server-trouble' })
    }
  })

  test('LC-07 an answer that is lost after sending leaves it as its class says', () => {
    for (const how of ['dropped', 'timeout', 'aborted'] as const) {
      expect(classifyBreak(name, { sent: true, how }).kind).toBe(TROUBLE_KIND[row.class])
      const { kind, code } = classifyBreak(name, { sent: false, how })
      expect({ kind, code }).toEqual({ kind: 'unavailable', code: 'lakefs/unreachable' })
    }
  })
})

test.each([
  [400, 'invalid', 'lakefs/bad-request'],
  [401, 'invalid', 'lakefs/unauthorized'],
  [403, 'refused', 'lakefs/forbidden'],
  [404, 'missing', 'lakefs/not-found'],
  [408, 'unavailable', 'lakefs/request-timeout'],
  [409, 'refused', 'lakefs/conflict'],
  [410, 'missing', 'lakefs/gone'],
  [412, 'refused', 'lakefs/precondition'],
  [416, 'invalid', 'lakefs/bad-range'],
  [423, 'unavailable', 'lakefs/locked'],
  [429, 'unavailable', 'lakefs/too-many-requests'],
  [501, 'invalid', 'lakefs/not-supported'],
  [503, 'unavailable', 'lakefs/overloaded'],
  [418, 'invalid', 'lakefs/bad-request'],
] as const)('LC-08 status %i is %s (%s) where nothing else is foreseen', (status, kind, code) => {
  expect(classifyAnswer('listBranches', json(status))).toMatchObject({ is: 'error', kind, code })
})

test('LC-09 "predicate failed" means contention, surely not done; other words keep the careful verdict', () => {
  const contended = classifyAnswer('commit', json(500, 'update branch: predicate failed'))
  expect(contended).toMatchObject({ kind: 'unavailable', code: 'lakefs/contention' })
  expect(classifyAnswer('commit', json(500, 'condition did not hold'))).toMatchObject({ kind: 'uncertain' })
  expect(classifyAnswer('commit', page(500))).toMatchObject({ kind: 'uncertain' })
})

test('LC-10 an unknown operation means an old server; other words leave it "not found"', () => {
  const old = classifyAnswer('hardResetBranch', json(404, 'invalid API endpoint'))
  expect(old).toMatchObject({ kind: 'invalid', code: 'lakefs/server-too-old' })
  const other = classifyAnswer('hardResetBranch', json(404, 'no such route'))
  expect(other).toMatchObject({ kind: 'missing', code: 'lakefs/not-found' })
})

test('LC-11 what does not answer like lakeFS is not lakeFS', () => {
  for (const status of [200, 301, 302, 400, 403, 404, 409, 410, 412, 416]) {
    expect(classifyAnswer('getBranch', page(status))).toMatchObject({
      is: 'error',
      kind: 'invalid',
      code: 'lakefs/not-lakefs',
    })
  }
  // Said by proxies too, and clear whoever says it.
  for (const status of [401, 423, 429, 503]) {
    expect(classifyAnswer('getBranch', page(status))).toMatchObject({ code: STATUS_ROWS[status]?.code })
  }
})

test('LC-12 a success that cannot be read may still be one, when it was to change something', () => {
  expect(classifyAnswer('mergeIntoBranch', page(200))).toMatchObject({ kind: 'uncertain' })
  expect(classifyAnswer('deleteBranch', json(200))).toMatchObject({ kind: 'uncertain' })
  expect(classifyAnswer('deleteBranch', page(302))).toMatchObject({ code: 'lakefs/not-lakefs' })
})
