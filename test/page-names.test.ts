// The page imports generated types only, so it reads perago's names and metadata by itself: here it is held to their makers.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { METADATA_KEYS } from '../src/publication/commit-metadata.ts'
import { evidenceTag } from '../src/publication/evidence.ts'
import { stagingBranchName, stagingBranchOf } from '../src/publication/staging-name.ts'
import { commitRef } from '../src/base/ids.ts'
import { groupOf, readActorOwner, readStagingOwner, supersededBy } from '../src/web/views/data/names.ts'

const word = fc.stringMatching(/^[a-z]([a-z0-9_]{0,7}[a-z0-9])?$/)

test('WB-29 the page reads the names that workers give', () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      word,
      fc.nat(9),
      word,
      (workflowId, referenceTaskName, retryCount, executionId) => {
        const of = {
          workflowId,
          referenceTaskName,
          retryCount,
          executionId,
          seq: 1,
          iteration: 0,
          taskId: 't',
        }
        const name = stagingBranchName(of)
        expect(groupOf(name)).toBe('staging')
        expect(readStagingOwner(name)).toEqual({
          ...{ workflow: workflowId, task: referenceTaskName, retry: retryCount, execution: executionId },
        })
      },
    ),
  )
  const actor = stagingBranchOf({
    kind: 'actor',
    actor: 'operator',
    subject: 'orders.daily',
    executionId: 'e1',
  })
  expect([groupOf(actor), readActorOwner(actor)]).toEqual(['actor', 'operator-orders-daily'])
  expect(supersededBy(evidenceTag(commitRef('a'.repeat(64))))).toBe('a'.repeat(64))
})

test('WB-28 the page has words for all metadata of a publication, and for nothing else', () => {
  const source = readFileSync(new URL('../src/web/views/data/facts.tsx', import.meta.url), 'utf8')
  const told = [...source.matchAll(/^ {2}'(publish\.\w+)': '/gm)].map(([, key]) => key)
  expect(told).toEqual(Object.keys(METADATA_KEYS))
})
