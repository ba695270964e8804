// Goal: with the fence installed, of all who expect one head exactly one wins, and no acknowledged commit is lost.
// Method: rounds of races over HTTP, each on a branch of its own: publishers, replacements, stray collapses, and
// strangers who commit, merge and reset. A few rounds here; more with PERAGO_TEST_RACE_ROUNDS.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { isPeragoError, type ErrorKind } from '../../src/base/errors.ts'
import { branchName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import type { TaskId } from '../../src/fences/attempt-snapshot.ts'
import { createRepository, setBranchProtection } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import { openHardFences, type HardFences } from '../../src/publication/hard-fences.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import type { PublicationResult } from '../../src/publication/publication.ts'
import { publish } from '../../src/publication/publish.ts'
import {
  failureOf,
  logOf,
  NO_CHANGES,
  PREFIX,
  publicationOf,
  uploadOf,
} from '../support/publication-world.ts'
import { wantsRealLakefs } from '../support/servers/lakefs.ts'
import { openSuiteLakefs, suiteOf, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'
import { commitOf, MAIN, put } from './versioned-repo-cases/world.ts'

const ROUNDS = Number(process.env['PERAGO_TEST_RACE_ROUNDS'] ?? 0)
const FEW = { rounds: 8, lanes: 4 }
const MANY = { rounds: ROUNDS, lanes: 8 }
const MANY_MS = 1_150_000
const EXPECTED: ReadonlySet<ErrorKind> = new Set(['refused', 'uncertain', 'unavailable'])
/** A real server learns of a new protection within some seconds. */
const PROTECTION_MS = 15_000

const SERVERS: { readonly name: string; readonly open: () => Promise<SuiteLakefs> }[] = [
  {
    name: 'the embedded server',
    open: async () => suiteOf({ ...(await startEmbeddedLakefs({})), storageNamespace: 'local://races' }),
  },
  ...(wantsRealLakefs(process.env) ? [{ name: 'the real lakeFS', open: openSuiteLakefs }] : []),
]

describe.each(SERVERS)('against $name', ({ name, open }) => {
  let server: SuiteLakefs
  let client: LakefsClient
  let repo: VersionedRepo
  let fences: HardFences
  let base: CommitRef
  let repository: ReturnType<SuiteLakefs['newRepository']>['repository']
  beforeAll(async () => {
    server = await open()
    client = createLakefsClient({ ...server, endpoint: server.url })
    const fresh = server.newRepository('races')
    repository = fresh.repository
    await createRepository(client, fresh)
    repo = openLakefsRepo(client, repository)
    fences = openHardFences({ clock: systemClock })
    await put(repo, MAIN, FENCE_PATH, FENCE_FILE)
    base = (await commitOf(repo, MAIN, { base: '1' })).ref
  })
  afterAll(async () => {
    await client.close()
    await server.close()
  })

  interface Publisher {
    readonly input: CommitRef
    readonly task: string
    readonly replace?: 'own' | 'any'
  }
  const send = (
    branch: BranchName,
    { input, task, replace = 'own' }: Publisher,
  ): Promise<PublicationResult> => {
    const id = randomBytes(6).toString('hex')
    const { request } = publicationOf(repo, input, {
      attempt: { taskId: `task-${id}` as TaskId },
      authority: { replace, referenceTaskName: task },
      changes: { uploads: [uploadOf(`${PREFIX}${id}.txt`, id)], deletes: [] },
      target: { branch, inputRef: input, prefix: PREFIX },
      fences,
    })
    return publish(request)
  }
  const openBranch = async (): Promise<BranchName> => {
    const branch = branchName(`race-${randomBytes(6).toString('hex')}`)
    await repo.createBranch({ branch, from: base })
    return branch
  }

  /** The commits that were acknowledged, apart from those that are in the history, or under a tag. */
  async function lostOf(branch: BranchName, acknowledged: readonly CommitRef[]): Promise<CommitRef[]> {
    const history = new Set<CommitRef>()
    for await (const { ref } of repo.log(branch, { limit: 200 })) history.add(ref)
    const lost: CommitRef[] = []
    for (const ref of acknowledged.filter((one) => !history.has(one))) {
      const tag = await repo.createTag({ tag: `perago-superseded-${ref}`, at: ref })
      if (tag.created) lost.push(ref)
    }
    return lost
  }

  /** Of whom a refusal is expected, or, where many write, that it was not settled; anything else fails the test. */
  async function settled(runs: readonly Promise<PublicationResult>[]): Promise<PublicationResult[]> {
    const outcomes = await Promise.allSettled(runs)
    const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    for (const error of failed) if (!isPeragoError(error) || !EXPECTED.has(error.kind)) throw error
    const won = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    for (const { strength } of won) expect(strength).toBe('hard')
    return won
  }

  const expectationOf = async (result: PublicationResult): Promise<CommitRef | undefined> =>
    'supersededRef' in result ? result.supersededRef : (await repo.readCommit(result.outputRef))?.parents[0]

  const several = (least: number, most: number): number =>
    least + Math.floor(Math.random() * (most - least + 1))

  const stranger = async (branch: BranchName): Promise<CommitRef | undefined> => {
    const id = randomBytes(6).toString('hex')
    try {
      if (Math.random() < 0.5) {
        await put(repo, branch, `strangers/${id}`, id)
        const outcome = await repo.commit({ branch, message: id })
        return outcome.committed ? outcome.commit.ref : undefined
      }
      const side = branchName(`side-${id}`)
      await repo.createBranch({ branch: side, from: base })
      const source = (await commitOf(repo, side, { [`strangers/${id}`]: id })).ref
      const outcome = await repo.merge({ source, into: branch })
      return outcome.merged ? outcome.ref : undefined
    } catch (error) {
      // Others write the branch at the same time; what was not acknowledged does not count.
      if (isPeragoError(error) && error.kind !== 'invalid') return undefined
      throw error
    }
  }

  const KINDS = {
    async publishers() {
      const branch = await openBranch()
      const count = several(2, 8)
      const won = await settled(
        Array.from({ length: count }, (_, index) => send(branch, { input: base, task: `t${index}` })),
      )
      expect(won).toHaveLength(1)
      expect((await repo.readBranch(branch))?.head).toBe(won[0]?.outputRef)
    },
    async replacements() {
      const branch = await openBranch()
      const abandoned = (await send(branch, { input: base, task: 'step' })).outputRef
      const replacements = Array.from({ length: several(2, 5) }, () =>
        send(branch, { input: base, task: 'step', replace: 'any' }),
      )
      const onTop = send(branch, { input: abandoned, task: 'next' })
      const strays = Array.from({ length: 3 }, () =>
        repo.collapseClaim({ branch, claim: 'hard' }).catch(() => undefined),
      )
      const [won] = await Promise.all([settled([...replacements, onTop]), ...strays])
      const expected = await Promise.all(won.map(expectationOf))
      expect(new Set(expected).size).toBe(won.length)
      expect(won.length).toBeGreaterThan(0)
      const acknowledged = [abandoned, ...won.map(({ outputRef }) => outputRef)]
      expect(await lostOf(branch, acknowledged)).toEqual([])
    },
    async strangers() {
      const branch = await openBranch()
      const isAbandoned = Math.random() < 0.5
      const abandoned = isAbandoned ? [(await send(branch, { input: base, task: 'step' })).outputRef] : []
      const publications = Array.from({ length: several(1, 2) }, () =>
        send(branch, { input: base, task: 'step', replace: 'any' }),
      )
      const [won, ...theirs] = await Promise.all([settled(publications), stranger(branch), stranger(branch)])
      const ours = won.map(({ outputRef }) => outputRef)
      const acknowledged = [...abandoned, ...ours, ...theirs].filter((ref) => ref !== undefined)
      expect(await lostOf(branch, acknowledged)).toEqual([])
    },
    async resets() {
      const branch = await openBranch()
      const [first] = await settled([send(branch, { input: base, task: 'step' })])
      const head = first?.outputRef ?? base
      const back = async (): Promise<void> => {
        for (const to of [base, head]) {
          const expectedHead = (await repo.readBranch(branch))?.head ?? head
          await repo.moveBranch({ branch, expectedHead, to }).catch(() => undefined)
        }
      }
      const publications = Array.from({ length: several(2, 4) }, (_, index) =>
        send(branch, { input: head, task: `t${index}` }),
      )
      const [won] = await Promise.all([settled(publications), back()])
      for (const result of won) expect(await expectationOf(result)).toBe(head)
    },
  }

  async function race({ rounds, lanes }: { readonly rounds: number; readonly lanes: number }): Promise<void> {
    const kinds = Object.values(KINDS)
    const startMs = performance.now()
    let next = 0
    const lane = async (): Promise<void> => {
      for (let round = next++; round < rounds; round = next++) await kinds[round % kinds.length]!()
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
    console.info(`${name}: ${rounds} rounds in ${seconds} s, no expectation with two winners, nothing lost`)
  }

  test(
    'F-54 PU-151 of all who expect one head exactly one wins, and nothing acknowledged is lost',
    { timeout: 120_000 },
    () => race(FEW),
  )

  if (ROUNDS > 0) test('PU-152 the same, in many rounds', { timeout: MANY_MS }, () => race(MANY))

  test(
    'PU-153 on a protected branch a replacement goes on top of what it replaces',
    { timeout: 60_000 },
    async () => {
      const branch = await openBranch()
      const abandoned = (await send(branch, { input: base, task: 'step' })).outputRef
      await setBranchProtection(client, { repository, patterns: [branch] })
      await expect
        .poll(
          () =>
            repo.collapseClaim({ branch, claim: 'hard' }).then(
              () => 'open',
              () => 'protected',
            ),
          { timeout: PROTECTION_MS },
        )
        .toBe('protected')
      const result = await send(branch, { input: base, task: 'step', replace: 'any' })
      expect(result).toMatchObject({ action: 'replaced', strength: 'hard', supersededRef: abandoned })
      const [head, below] = await logOf(repo, branch)
      expect([head?.ref, below?.ref]).toEqual([result.outputRef, abandoned])
      const { request } = publicationOf(repo, abandoned, {
        target: { branch, inputRef: abandoned, prefix: PREFIX },
        changes: NO_CHANGES,
        fences,
      })
      expect(await failureOf(publish(request))).toMatchObject({ code: 'publication/branch-protected' })
    },
  )
})
