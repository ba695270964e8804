// Goal: nobody writes a branch without saying on whose behalf, and an actor without an attempt takes nothing from others.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  failureOf,
  filesOf,
  logOf,
  NO_CHANGES,
  PREFIX,
  publicationOf,
  stagingBranchesOf,
  TARGET,
  uploadOf,
  withAuthority,
} from '../../test/support/publication-world.ts'
import type { CommitRef } from '../base/ids.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { ActorAuthority, Authority } from './authority.ts'
import { openStagingSession } from './open-staging.ts'
import type { VersionedRepo } from './ports.ts'
import type { PublicationRequest } from './publication.ts'
import { publish } from './publish.ts'
import { relocate } from './relocate.ts'
import { stagingBranchOf } from './staging-name.ts'

const ACTOR: ActorAuthority = { kind: 'actor', actor: 'run', subject: 'orders.clean', executionId: 'e-1' }

let world: ScriptedRepo
let repo: VersionedRepo
let input: CommitRef
beforeEach(() => {
  world = new ScriptedRepo()
  repo = world.connect('worker')
  input = world.commitDirectly(TARGET, { [`${PREFIX}a.txt`]: 'first', other: 'x' })
})

const byActor = (changes: Partial<ActorAuthority> = {}): PublicationRequest => ({
  ...publicationOf(repo, input).request,
  authority: { ...ACTOR, ...changes },
})

describe('a write without an authority', () => {
  test('F-59 is refused before anything is sent, whoever forgot it', async () => {
    const { request } = publicationOf(repo, input)
    const INCOMPLETE = [
      undefined,
      {},
      { ...request.authority, readFresh: undefined },
      { ...request.authority, attempt: undefined },
      { ...ACTOR, executionId: undefined },
      { ...ACTOR, actor: '' },
    ]
    for (const authority of INCOMPLETE) {
      const given = { repo, authority: authority as Authority }
      const wanted = { kind: 'invalid', code: 'publication/no-authority' }
      expect(await failureOf(publish({ ...request, ...given }))).toMatchObject(wanted)
      const move = { ...given, branch: TARGET, expectedHead: input, to: input }
      expect(await failureOf(relocate(move))).toMatchObject(wanted)
      expect(() => openStagingSession({ ...given, inputRef: input })).toThrow(expect.objectContaining(wanted))
    }
    expect(world.calls).toEqual([])
  })
})

describe('a publication without an attempt', () => {
  test('PU-38 is staged, judged, merged and confirmed like any other, and reads no attempt', async () => {
    const seen: string[] = []
    const watching: VersionedRepo = {
      ...repo,
      commit: (given, options) => (seen.push(given.branch), repo.commit(given, options)),
    }
    const steps: string[] = []
    const result = await publish({
      ...byActor(),
      repo: watching,
      observer: ({ step }) => steps.push(step),
    })
    expect(steps).toEqual([
      ...['open-staging', 'upload', 'commit-staging', 'verify-staging', 'read-facts', 'publish-fence'],
      ...['merge', 'verify', 'clean-up'],
    ])
    expect(result).toMatchObject({ action: 'merged', outputRef: world.head(TARGET) })
    expect(await filesOf(repo)).toEqual({ [`${PREFIX}a.txt`]: 'a of 0', other: 'x' })
    const [head] = await logOf(repo)
    expect(head).toMatchObject({
      message: 'Publish orders.clean, by run',
      parents: [input],
      metadata: {
        'publish.run': 'e-1',
        'publish.input': input,
        'publish.task': 'orders.clean',
        'publish.actor': 'run',
      },
    })
    expect(Object.keys(head?.metadata ?? {})).not.toContain('publish.workflow')
    expect(seen).toEqual(['perago-actor-run-orders-clean-exec-e-1'])
    expect(await stagingBranchesOf(repo)).toEqual([])
  })

  test('PU-38 without changes it completes with the input', async () => {
    const result = await publish({ ...byActor(), changes: NO_CHANGES })
    expect(result).toEqual({ action: 'completed', outputRef: input, strength: 'soft', stored: new Map() })
  })

  test.each([
    ['somebody else', () => Promise.resolve(world.commitDirectly(TARGET, { y: 'foreign' }))],
    ['an attempt', async () => (await publish(publicationOf(repo, input).request)).outputRef],
    ['an earlier execution', async () => (await publish(byActor({ executionId: 'e-0' }))).outputRef],
  ])('PU-38 what %s has put above the input is neither replaced nor moved back from', async (_, arrange) => {
    const head = await arrange()
    for (const changes of [NO_CHANGES, byActor().changes])
      expect(await failureOf(publish({ ...byActor(), changes }))).toMatchObject({
        ...{ code: 'fences/publish-refused', reason: 'not-own' },
      })
    expect(world.head(TARGET)).toBe(head)
  })

  test('PU-38 only what this very execution published is replaced', async () => {
    const superseded = (await publish(byActor())).outputRef
    const uploads = [uploadOf(`${PREFIX}a.txt`, 'second')]
    expect(await publish({ ...byActor(), changes: { uploads, deletes: [] } })).toMatchObject({
      ...{ action: 'replaced', supersededRef: superseded },
    })
  })

  test('PU-38 a refusal leaves its staging branch, with a record that names the actor', async () => {
    world.commitDirectly(TARGET, { y: 'foreign' })
    await failureOf(publish(byActor()))
    const [staging] = await stagingBranchesOf(repo)
    const [closing] = await logOf(repo, staging)
    const record = JSON.parse(closing!.metadata['publish.evidence']!) as Record<string, unknown>
    expect(record).toMatchObject({ actor: 'run', executionId: 'e-1', refusal: { reason: 'not-own' } })
    expect(record).not.toHaveProperty('attempt')
  })

  test('PU-38 an attempt does not take it for its own', async () => {
    await publish(byActor())
    const { request } = publicationOf(repo, input)
    const attempt = withAuthority(request, { replace: 'own', referenceTaskName: 'orders.clean' })
    expect(await failureOf(publish(attempt))).toMatchObject({ reason: 'not-own' })
  })

  test('PU-40 its staging branch has a name that no attempt, of whichever language, can have', () => {
    expect(stagingBranchOf(ACTOR)).toBe('perago-actor-run-orders-clean-exec-e-1')
    const odd = stagingBranchOf({ ...ACTOR, actor: '../staging', subject: '', executionId: 'ä/b' })
    expect(odd).toBe('perago-actor-staging-unknown-exec-b')
    expect(stagingBranchOf(publicationOf(repo, input).request.authority)).toMatch(/^perago-staging-/)
  })
})

test('PU-41 a publication answers what was stored: each uploaded path with the checksum that the repository gave it', async () => {
  const uploads = ['a.txt', 'b.txt'].map((name) => uploadOf(`${PREFIX}${name}`, name))
  const { stored, outputRef } = await publish(
    publicationOf(repo, input, { changes: { uploads, deletes: [] } }).request,
  )
  const found = await Promise.all(
    uploads.map(async ({ path }) => [path, (await repo.stat(outputRef, path))?.checksum]),
  )
  expect([...stored].sort()).toEqual(found)
})
