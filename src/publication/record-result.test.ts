// Goal: both commits of a publication carry its ledger; a large result lies where no reader of data meets it.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  failureOf,
  filesOf,
  logOf,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
} from '../../test/support/publication-world.ts'
import { MissingError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import { readLedger, sha256Of, type RecordedResult } from './ledger.ts'
import { LEDGER_INLINE_MAX_BYTES, LEDGER_RESULT_MAX_BYTES } from './limits.ts'
import type { VersionedRepo } from './ports.ts'
import type { GivenResult } from './publication.ts'
import { publish } from './publish.ts'

let world: ScriptedRepo
let repo: VersionedRepo
let input: CommitRef
beforeEach(() => {
  world = new ScriptedRepo()
  repo = world.connect('worker')
  input = world.commitDirectly(TARGET, { [`${PREFIX}a.txt`]: 'first' })
})

/** A string whose JSON has so many bytes. */
const ofBytes = (bytes: number): string => 'x'.repeat(bytes - 2)

async function publishWith(
  result: GivenResult | undefined,
  over: VersionedRepo = repo,
): Promise<RecordedResult> {
  await publish(publicationOf(over, input, { result }).request)
  const [head] = await logOf(repo)
  const reading = readLedger(head?.metadata ?? {})
  if (reading.kind !== 'entry') throw new Error(reading.kind)
  return reading.ledger.result
}

describe('the result that a publication records', () => {
  test('PU-163 a small one is in the staged and the published commit, and costs no request', async () => {
    const before = world.calls.length
    expect(await publishWith({ value: { rows: 2 } })).toEqual({ kind: 'inline', value: { rows: 2 } })
    expect(world.calls.slice(before).filter(({ request }) => request === 'writeCommit')).toEqual([])
    expect(await publishWith({ value: ofBytes(LEDGER_INLINE_MAX_BYTES) })).toMatchObject({ kind: 'inline' })
  })

  test('PU-163 a larger one is in a record that no branch, log, listing or tag shows', async () => {
    const value = ofBytes(LEDGER_INLINE_MAX_BYTES + 1)
    const recorded = await publishWith({ value })
    if (recorded.kind !== 'kept') throw new Error(recorded.kind)
    const record = await repo.readCommit(recorded.ref)
    expect(record?.metadata['publish.result']).toBe(JSON.stringify(value))
    expect(recorded.sha256).toBe(sha256Of(JSON.stringify(value)))
    // A record is no publication: nothing takes it for one.
    expect(readLedger(record?.metadata ?? {})).toEqual({ kind: 'none' })
    expect((await logOf(repo)).map(({ ref }) => ref)).not.toContain(recorded.ref)
    expect(await filesOf(repo)).toEqual({ [`${PREFIX}a.txt`]: 'a of 0' })
    expect([await stagingBranchesOf(repo), [...world.model.tags]]).toEqual([[], []])
    expect(await publishWith({ value: ofBytes(LEDGER_RESULT_MAX_BYTES) })).toMatchObject({ kind: 'kept' })
  })

  test('PU-164 what cannot be recorded is left out and said, and the publication stands', async () => {
    const tooLarge = ofBytes(LEDGER_RESULT_MAX_BYTES + 1)
    expect(await publishWith({ value: tooLarge })).toEqual({ kind: 'left-out', why: 'too-large' })
    expect(await publishWith({ value: 'x', isSecret: true })).toEqual({ kind: 'left-out', why: 'secret' })
    expect(await publishWith(undefined)).toEqual({ kind: 'left-out', why: 'not-given' })
    const older: VersionedRepo = {
      ...repo,
      writeCommit: () =>
        Promise.reject(new MissingError('testing/no-such-route', 'write a commit: there is no such route')),
    }
    const value = ofBytes(LEDGER_INLINE_MAX_BYTES + 1)
    expect(await publishWith({ value }, older)).toEqual({ kind: 'left-out', why: 'no-place' })
  })

  test('PU-164 where a result must be recorded and is not, nothing is staged', async () => {
    const result = { value: ofBytes(LEDGER_RESULT_MAX_BYTES + 1), isRequired: true }
    const { request, steps } = publicationOf(repo, input, { result })
    expect(await failureOf(publish(request))).toMatchObject({ code: 'publication/result-not-recorded' })
    expect([world.head(TARGET), steps()]).toEqual([input, ['attempt-fence']])
  })
})
