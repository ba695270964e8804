// The suite against the embedded server, always, both ways bytes can travel; and against a real lakeFS where the
// environment names one or a container can be started. A named server that does not answer is a failure.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { errorKindOf as kindOfError } from '../../src/base/errors.ts'
import { repositoryName } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository, deleteRepository, setBranchProtection } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { dockerAnswers } from '../support/servers/containers.ts'
import { RECIPES, openRealServer } from '../support/servers/servers.ts'
import { versionedRepoConformance } from './versioned-repo.ts'
import { MAIN, type OpenRepo } from './versioned-repo-cases/world.ts'

const MIB = 1024 * 1024
/** The smallest parts object stores take, so that the large body of the suite goes in parts. */
const MULTIPART = { thresholdBytes: 16 * MIB, partBytes: 5 * MIB, partsInFlight: 2 }
/** A real server learns of a new protection within some seconds. */
const PROTECTION_MS = 15_000

for (const presign of [false, true]) {
  describe(`embedded lakeFS, ${presign ? 'presigned addresses' : 'through the server'}`, () => {
    let server: EmbeddedLakefs
    let client: LakefsClient
    let dataDir: string
    beforeAll(async () => {
      // On disk: in memory it would hold the large body itself.
      dataDir = await mkdtemp(join(tmpdir(), 'perago-conformance-'))
      server = await startEmbeddedLakefs({ presign, dataDir })
      client = createLakefsClient({ ...server, endpoint: server.url, multipart: MULTIPART })
    })
    afterAll(async () => {
      await client.close()
      await server.close()
      await rm(dataDir, { recursive: true })
    })
    versionedRepoConformance(`embedded, presign ${presign}`, {
      open: () => openFresh(client, 'local://conformance'),
    })
  })
}

const realIsThere = process.env['LAKEFS_ENDPOINT'] !== undefined || (await dockerAnswers())
describe.runIf(realIsThere)('real lakeFS', () => {
  const closing: (() => Promise<void>)[] = []
  let client: LakefsClient
  let namespace: string
  beforeAll(async () => {
    const opened = await openRealServer(RECIPES.lakefs)
    if (!('url' in opened)) throw new Error(opened.reason)
    closing.push(opened.close)
    const { accessKeyId = '', secretAccessKey = '', storageNamespace = '' } = opened.facts
    namespace = storageNamespace
    client = createLakefsClient({ endpoint: opened.url, accessKeyId, secretAccessKey, multipart: MULTIPART })
    closing.unshift(() => client.close())
    console.info(
      `conformance runs against lakeFS ${(await client.capabilities()).version} (${opened.origin})`,
    )
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })
  versionedRepoConformance('real lakeFS', { open: () => openFresh(client, namespace) })
})

async function openFresh(client: LakefsClient, namespace: string): Promise<OpenRepo> {
  const repository = repositoryName(`conformance-${randomBytes(6).toString('hex')}`)
  // Namespaces stay used for ever, so each repository gets its own.
  const storageNamespace = `${namespace.replace(/\/+$/, '')}/${repository}`
  expect(await createRepository(client, { repository, storageNamespace })).toEqual({ created: true })
  const repo = openLakefsRepo(client, repository)
  const noneYet = (): string => 'not yet'
  return {
    repo,
    openOther: (other) => openLakefsRepo(client, other),
    protect: async (pattern) => {
      await setBranchProtection(client, { repository, patterns: [pattern] })
      await expect
        .poll(
          // Refused once the rule is in force; until then there is nothing to commit, so nothing happens.
          () => repo.commit({ branch: MAIN, message: 'is it protected?' }).then(noneYet, kindOfError),
          { timeout: PROTECTION_MS, interval: 200 },
        )
        .toBe('refused')
    },
    close: async () => {
      await deleteRepository(client, repository)
    },
  }
}
