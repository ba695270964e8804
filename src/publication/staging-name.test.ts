import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stagingBranchName, stagingPrefix, type StagingIdentity } from './staging-name.ts'

// Pairs of identity and name as the Python worker's own function made them, 0.6.1.
const golden = readFileSync(new URL('staging-names.golden.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as StagingIdentity & { readonly name: string })

const plain: StagingIdentity = {
  workflowId: 'w',
  referenceTaskName: 'load',
  seq: 1,
  iteration: 0,
  taskId: 't',
  retryCount: 0,
  executionId: 'e',
}

describe('staging branch names', () => {
  test("PU-01 equal the Python workers' byte for byte", () => {
    expect(golden.length).toBeGreaterThan(200)
    expect(golden.map(({ name, ...identity }) => [stagingBranchName(identity), name])).toEqual(
      golden.map(({ name }) => [name, name]),
    )
  })

  test('PU-02 are valid branch names under their prefix, whatever the parts', () => {
    const part = fc.string({ unit: 'binary', maxLength: 40 })
    const count = fc.nat()
    fc.assert(
      fc.property(
        part,
        part,
        part,
        part,
        count,
        count,
        count,
        (workflowId, referenceTaskName, taskId, executionId, seq, iteration, retryCount) => {
          const identity = { workflowId, referenceTaskName, taskId, executionId, seq, iteration, retryCount }
          const name = stagingBranchName(identity)
          expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]*$/)
          expect(name.startsWith('perago-staging-')).toBe(true)
          expect(name.startsWith(stagingPrefix({ workflowId }))).toBe(true)
          expect(name.startsWith(stagingPrefix({ workflowId, referenceTaskName }))).toBe(true)
        },
      ),
    )
  })

  test('PU-02 beyond the limit are refused before anything is sent', () => {
    const long = (length: number): StagingIdentity => ({ ...plain, referenceTaskName: 'r'.repeat(length) })
    const others = stagingBranchName(long(1)).length - 1
    expect(stagingBranchName(long(1024 - others))).toHaveLength(1024)
    expect(() => stagingBranchName(long(1025 - others))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'publication/staging-name-too-long' }),
    )
  })

  test('PU-02 differ between two executions of one attempt', () => {
    expect(stagingBranchName(plain)).not.toBe(stagingBranchName({ ...plain, executionId: 'f' }))
  })
})
