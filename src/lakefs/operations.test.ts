import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { OPERATIONS, operationRow, type OperationName } from './operations.ts'

const contract = parse(readFileSync(new URL('../../openapi/lakefs.yaml', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, unknown> }>>
}
const described = Object.values(contract.paths).flatMap((path) =>
  Object.values(path).filter((entry) => entry.operationId !== undefined),
)
const names = Object.keys(OPERATIONS) as OperationName[]

test('LC-01 every operation of the contract has a class, and no other has', () => {
  const conditional = ['linkPhysicalAddressIfAbsent', 'uploadObjectIfAbsent']
  const expected = [...described.map((entry) => entry.operationId), ...conditional].sort()
  expect([...names].sort()).toEqual(expected)
})

test.each(names)('LC-02 what %s relies on is in the contract', (name) => {
  const entry = described.find((found) => found.operationId === name.replace(/IfAbsent$/, ''))
  const { done, values } = operationRow(name)
  for (const status of [...done, ...Object.keys(values).map(Number)]) {
    expect(Object.keys(entry?.responses ?? {})).toContain(String(status))
  }
})

test('LC-03 whatever may have an effect says what to read when its answer is lost', () => {
  for (const name of names) {
    const row = operationRow(name)
    if (row.class === 'safe') expect(row).not.toHaveProperty('read')
    else expect(row.read.length).toBeGreaterThan(10)
  }
})
