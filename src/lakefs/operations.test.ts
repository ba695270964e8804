import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  classifyAnswer,
  classifyBreak,
  type Answer,
  type FailureRow,
  type OperationClass,
  type OperationRow,
  type Verdict,
} from '../remote/server-table.ts'
import { LAKEFS, OPERATIONS, type OperationName } from './operations.ts'

const contract = parse(readFileSync(new URL('../../openapi/lakefs.yaml', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, unknown> }>>
}
const described = Object.values(contract.paths).flatMap((path) =>
  Object.values(path).filter((entry) => entry.operationId !== undefined),
)
const names = Object.keys(OPERATIONS) as OperationName[]
const rowOf = (name: OperationName): OperationRow => OPERATIONS[name]

const TROUBLE_KIND: Readonly<Record<OperationClass, string>> = {
  safe: 'unavailable',
  idempotent: 'uncertain',
  'look-before-repeat': 'uncertain',
}

function json(status: number, message = 'said so'): Answer {
  const body = { message }
  return { status, contentType: 'application/json', text: JSON.stringify(body), json: body }
}
const page = (status: number): Answer => ({
  status,
  contentType: 'text/html',
  text: '<html>',
  json: undefined,
})
const judge = (name: OperationName, answer: Answer): Verdict => classifyAnswer(LAKEFS, name, answer)
const failure = (name: OperationName, answer: Answer): FailureRow | undefined => {
  const verdict = judge(name, answer)
  return verdict.is === 'error' ? verdict.failure : undefined
}

test('LC-01 every operation of the contract has a class, and no other has', () => {
  const conditional = ['linkPhysicalAddressIfAbsent', 'uploadObjectIfAbsent']
  const expected = [...described.map((entry) => entry.operationId), ...conditional].sort()
  expect([...names].sort()).toEqual(expected)
})

test.each(names)('LC-02 what %s relies on is in the contract', (name) => {
  const entry = described.find((found) => found.operationId === name.replace(/IfAbsent$/, ''))
  const { done = LAKEFS.done, method, path, values = {} } = rowOf(name)
  expect(contract.paths[path]?.[method.toLowerCase()]).toBe(entry)
  for (const status of [...done, ...Object.keys(values).map(Number)]) {
    expect(Object.keys(entry?.responses ?? {})).toContain(String(status))
  }
})

test('LC-03 whatever may have an effect says what to read when its answer is lost', () => {
  for (const name of names) {
    const row = rowOf(name)
    if (row.class === 'safe') expect(row).not.toHaveProperty('read')
    else expect(row.read.length).toBeGreaterThan(10)
  }
})

const ALWAYS_THERE: ReadonlySet<string> = new Set(['getConfig', 'getLakeFSVersion', 'listRepositories'])

describe.each(names)('%s', (name) => {
  const row = rowOf(name)

  test('LC-04 its own success is done, and no other success is', () => {
    for (const status of [200, 201, 202, 204, 206]) {
      const { is } = judge(name, json(status))
      if ((row.done ?? LAKEFS.done).includes(status)) expect(is).toBe('done')
      else expect(is).toBe('error')
    }
  })

  test('LC-05 what it foresees is a value, every other status of the table is that error', () => {
    for (const [text, statusRow] of Object.entries(LAKEFS.statuses)) {
      const status = Number(text)
      const value = row.values?.[status]
      const verdict = judge(name, json(status))
      // These are there whatever is stored, so that another server is told apart.
      if (status === 404 && ALWAYS_THERE.has(name))
        expect(verdict).toMatchObject({ is: 'error', failure: { code: 'lakefs/not-lakefs' } })
      else if (value !== undefined) expect(verdict).toEqual({ is: 'value', value })
      else if (statusRow.mayBeDone !== true || row.class === 'safe')
        expect(verdict).toEqual({ is: 'error', failure: statusRow })
      else
        expect(verdict).toMatchObject({ is: 'error', failure: { kind: 'uncertain', code: statusRow.code } })
    }
  })

  test('LC-06 trouble of the server leaves it as its class says', () => {
    for (const status of [500, 502, 504, 599]) {
      expect(failure(name, json(status))).toMatchObject({
        kind: TROUBLE_KIND[row.class],
        code: 'lakefs/server-trouble',
      })
    }
  })

  test('LC-07 an answer that is lost after sending leaves it as its class says', () => {
    for (const how of ['dropped', 'timeout', 'aborted'] as const) {
      expect(classifyBreak(LAKEFS, name, { sent: true, how }).kind).toBe(TROUBLE_KIND[row.class])
      const { kind, code } = classifyBreak(LAKEFS, name, { sent: false, how })
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
  expect(failure('listBranches', json(status))).toMatchObject({ kind, code })
})

test('LC-09 "predicate failed" means contention, surely not done; other words keep the careful verdict', () => {
  const contended = failure('commit', json(500, 'update branch: predicate failed'))
  expect(contended).toMatchObject({ kind: 'unavailable', code: 'lakefs/contention' })
  expect(failure('commit', json(500, 'condition did not hold'))).toMatchObject({ kind: 'uncertain' })
  expect(failure('commit', page(500))).toMatchObject({ kind: 'uncertain' })
})

test('LC-10 an unknown operation means an old server; other words leave it "not found"', () => {
  const old = failure('hardResetBranch', json(404, 'invalid API endpoint'))
  expect(old).toMatchObject({ kind: 'invalid', code: 'lakefs/server-too-old' })
  const other = failure('hardResetBranch', json(404, 'no such route'))
  expect(other).toMatchObject({ kind: 'missing', code: 'lakefs/not-found' })
})

test('LC-11 what does not answer like lakeFS is not lakeFS', () => {
  for (const status of [200, 301, 302, 400, 403, 404, 409, 410, 412, 416]) {
    expect(failure('getBranch', page(status))).toMatchObject({
      kind: 'invalid',
      code: 'lakefs/not-lakefs',
    })
  }
  // Said by proxies too, and clear whoever says it.
  for (const status of [401, 423, 429, 503]) {
    expect(failure('getBranch', page(status))).toMatchObject({ code: LAKEFS.statuses[status]?.code })
  }
})

test('LC-12 a success that cannot be read may still be one, when it was to change something', () => {
  expect(failure('mergeIntoBranch', page(200))).toMatchObject({ kind: 'uncertain' })
  expect(failure('deleteBranch', json(200))).toMatchObject({ kind: 'uncertain' })
  expect(failure('deleteBranch', page(302))).toMatchObject({ code: 'lakefs/not-lakefs' })
})
