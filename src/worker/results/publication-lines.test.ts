import { expect, test } from 'vitest'
import { commitRef } from '../../base/ids.ts'
import {
  readPublicationLines,
  tellAdopted,
  tellKept,
  tellPublished,
  tellSuperseded,
} from './publication-lines.ts'

const [A, B] = ['a', 'b'].map((digit) => commitRef(digit.repeat(64))) as [
  ReturnType<typeof commitRef>,
  ReturnType<typeof commitRef>,
]

test('DO-144 what a worker logs of a publication is read back, whatever its body has logged', () => {
  const published = tellPublished({ action: 'replaced', outputRef: A, strength: 'hard' })
  const lied = tellPublished({ action: 'merged', outputRef: B, strength: 'soft' })
  expect(
    readPublicationLines(['hello', lied, published, `warn: ${tellSuperseded(B, `perago-superseded-${B}`)}`]),
  ).toEqual({
    ...{ outcome: 'replaced', outputRef: A, strength: 'hard' },
    ...{ supersededRef: B, evidence: `perago-superseded-${B}` },
  })
  expect(readPublicationLines([tellAdopted({ outputRef: A, runId: 'w-1', strength: 'soft' })])).toEqual({
    ...{ outcome: 'adopted', outputRef: A, strength: 'soft' },
  })
  expect(readPublicationLines([tellKept('perago-staging-x', undefined), 'failed: …'])).toEqual({
    evidence: 'perago-staging-x',
  })
  expect(readPublicationLines(['published: nothing of ours', `published: merged at ${A}`])).toEqual({})
})
