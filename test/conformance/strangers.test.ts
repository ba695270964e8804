// Goal: nobody else's acknowledged commit is lost by a publication, whenever it comes.
// Method: rounds over HTTP against the lakeFS of the gate, each on a branch of its own: one publication, half of them on a branch
// that carries an abandoned one, and somebody else who commits at a random moment of it. Counted are commits that were
// acknowledged and are afterwards neither in the history nor under a tag. With workers and Conductor: npm run bench -- strangers.
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { isPeragoError } from '../../src/base/errors.ts'
import { branchName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import type { TaskId } from '../../src/fences/attempt-snapshot.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import { openHardFences, type HardFences } from '../../src/publication/hard-fences.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { publish } from '../../src/publication/publish.ts'
import { PREFIX, publicationOf, uploadOf } from '../support/publication-world.ts'
import { wantsRealLakefs } from '../support/servers/lakefs.ts'
import { openSuiteLakefs, suiteOf, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'
import { commitOf, MAIN, put } from './versioned-repo-cases/world.ts'

const ROUNDS = Number(process.env['PERAGO_TEST_STRANGER_ROUNDS'] ?? 40)
const LANES = 4
/** About as long as a publication takes here. */
const MOMENT_MS_MAX = 80

let server: SuiteLakefs
let client: LakefsClient
let repo: VersionedRepo
let fences: HardFences
let base: CommitRef
beforeAll(async () => {
  server = wantsRealLakefs(process.env)
    ? await openSuiteLakefs()
    : suiteOf({ ...(await startEmbeddedLakefs({})), storageNamespace: 'local://strangers' })
  client = createLakefsClient({ ...server, endpoint: server.url })
  const fresh = server.newRepository('strangers')
  await createRepository(client, fresh)
  repo = openLakefsRepo(client, fresh.repository)
  fences = openHardFences({ clock: systemClock })
  await put(repo, MAIN, FENCE_PATH, FENCE_FILE)
  base = (await commitOf(repo, MAIN, { base: '1' })).ref
})
afterAll(async () => {
  await client.close()
  await server.close()
})

async function send(branch: BranchName, strength: 'soft' | 'hard'): Promise<void> {
  const id = randomBytes(6).toString('hex')
  const { request } = publicationOf(repo, base, {
    attempt: { taskId: `task-${id}` as TaskId },
    changes: { uploads: [uploadOf(`${PREFIX}${id}.txt`, id)], deletes: [] },
    target: { branch, inputRef: base, prefix: PREFIX },
    ...(strength === 'hard' && { fences }),
  })
  try {
    await publish(request)
  } catch (error) {
    // Refused, as it should be where somebody else was quicker.
    if (!isPeragoError(error) || error.kind === 'defect') throw error
  }
}

/** `undefined`: the commit was not acknowledged. */
async function commitForeign(branch: BranchName): Promise<CommitRef | undefined> {
  await wait(Math.random() * MOMENT_MS_MAX)
  const id = randomBytes(6).toString('hex')
  await put(repo, branch, `strangers/${id}`, id)
  try {
    const outcome = await repo.commit({ branch, message: id })
    return outcome.committed ? outcome.commit.ref : undefined
  } catch (error) {
    if (isPeragoError(error) && error.kind !== 'invalid') return undefined
    throw error
  }
}

async function isLost(branch: BranchName, ref: CommitRef): Promise<boolean> {
  for await (const commit of repo.log(branch, { limit: 50 })) if (commit.ref === ref) return false
  return (await repo.createTag({ tag: `perago-superseded-${ref}`, at: ref })).created
}

async function play(strength: 'soft' | 'hard'): Promise<{ readonly foreign: number; readonly lost: number }> {
  let foreign = 0
  let lost = 0
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index).values()
  const lane = async (): Promise<void> => {
    for (const round of rounds) {
      const branch = branchName(`strangers-${randomBytes(6).toString('hex')}`)
      await repo.createBranch({ branch, from: base })
      if (round % 2 === 0) await send(branch, strength)
      const [ref] = await Promise.all([commitForeign(branch), send(branch, strength)])
      if (ref === undefined) continue
      foreign++
      if (await isLost(branch, ref)) lost++
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  console.info(
    `${strength}: ${lost} of ${foreign} acknowledged commits of others were lost, in ${ROUNDS} rounds`,
  )
  return { foreign, lost }
}

test(
  'PU-199 with the hard fence no acknowledged commit of somebody else is lost, whenever it comes',
  { timeout: 60_000 + ROUNDS * 2_000 },
  async () => {
    const { foreign, lost } = await play('hard')
    expect(lost).toBe(0)
    expect(foreign).toBeGreaterThan(ROUNDS / 4)
  },
)

// The soft fence can lose one in its window, so that this judges nothing in a few rounds.
if (process.env['PERAGO_TEST_STRANGER_ROUNDS'] !== undefined)
  test('the soft fence loses few', { timeout: 60_000 + ROUNDS * 2_000 }, async () => {
    const { foreign, lost } = await play('soft')
    expect(lost / foreign).toBeLessThan(0.01)
  })
