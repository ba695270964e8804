// The suite against the embedded server, always, both ways bytes can travel; and against a real lakeFS where one is
// wanted or a container can be started. One that is wanted and cannot be had is a failure.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorKindOf as kindOfError } from '../../src/base/errors.ts'
import { repositoryName } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository, deleteRepository, setBranchProtection } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { dockerAnswers } from '../support/servers/containers.ts'
import { wantsRealLakefs } from '../support/servers/lakefs.ts'
import type { RealServer } from '../support/servers/real-server.ts'
import { RECIPES, leave, openRealServer } from '../support/servers/servers.ts'
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
      open: () => openFresh(client, server, 'local://conformance'),
    })
  })
}

const real = await openRealLakefs()
if (real === undefined) {
  test('the suite runs against a real lakeFS', (context) => {
    leave('no real lakeFS is wanted here', context, process.env)
  })
} else {
  describe('real lakeFS', () => {
    const { accessKeyId = '', secretAccessKey = '', storageNamespace = '' } = real.facts
    const client = createLakefsClient({
      endpoint: real.url,
      accessKeyId,
      secretAccessKey,
      multipart: MULTIPART,
    })
    beforeAll(async () => {
      const { version } = await client.capabilities()
      console.info(`conformance runs against lakeFS ${version} (${real.origin})`)
    })
    afterAll(async () => {
      await client.close()
      await real.close()
    })
    versionedRepoConformance('real lakeFS', {
      open: () => openFresh(client, { accessKeyId, secretAccessKey }, storageNamespace),
    })
  })
}

/** Throws where one is wanted and none is had; `undefined`: none is wanted, and the embedded one was tried above. */
async function openRealLakefs(): Promise<RealServer | undefined> {
  if (!wantsRealLakefs(process.env) && !(await dockerAnswers())) return undefined
  const opened = await openRealServer(RECIPES.lakefs)
  if (!('url' in opened)) throw new Error(opened.reason)
  if (opened.origin !== 'embedded') return opened
  await opened.close()
  return undefined
}

async function openFresh(
  client: LakefsClient,
  { accessKeyId, secretAccessKey }: { readonly accessKeyId: string; readonly secretAccessKey: string },
  namespace: string,
): Promise<OpenRepo> {
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
    ask: async (method, path, json) => {
      const url = `${client.endpoint.apiUrl}/repositories/${repository}${path}`
      const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`
      const headers = { authorization, 'content-type': 'application/json' }
      const response = await fetch(url, { method, headers, ...(json && { body: JSON.stringify(json) }) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
    },
    close: async () => {
      await deleteRepository(client, repository)
    },
  }
}
