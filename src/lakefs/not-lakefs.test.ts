// Goal: an address of something else is recognised by whatever is asked first, and is never taken for an empty lakeFS.
import { expect, onTestFinished, test } from 'vitest'
import { instantClock, startScriptedServer, type Reaction } from '../../test/conformance/scripted-server.ts'
import { branchName, commitRef, repositoryName } from '../base/ids.ts'
import { listRepositories, readServerInfo } from './administration.ts'
import { createLakefsClient, type LakefsClient } from './client.ts'
import { resolveRef } from './resolve-ref.ts'
import { openLakefsRepo } from './versioned-repo.ts'

const html = (status: number): Reaction => ({
  status,
  text: '<!doctype html><title>Sign in</title>',
  type: 'text/html',
})
const redirect = (status: number): Reaction => ({
  status,
  json: {},
  headers: { location: 'https://login.example.org/' },
})
const json = (status: number, body: unknown): Reaction => ({ status, json: body })

const SERVERS: Readonly<Record<string, Reaction>> = {
  'a page for every address': html(200),
  'a page that is not found': html(404),
  'a login by a redirect (302)': redirect(302),
  'a login by a redirect (307)': redirect(307),
  'another port by a redirect (301)': redirect(301),
  Conductor: json(404, {
    ...{ status: 404, message: 'No static resource api/v1/x.', instance: 'conductor-1', retryable: false },
  }),
  'a Spring application': json(404, {
    timestamp: '2026-01-01T00:00:00Z',
    status: 404,
    error: 'Not Found',
    path: '/x',
  }),
  'a FastAPI application': json(404, { detail: 'Not Found' }),
  'an API with errors of its own': json(400, { errors: [{ message: 'Must provide query string.' }] }),
  'an API that takes no such method': json(405, { error: 'method not allowed' }),
  'an API that forbids it in its own words': json(403, { code: 403, message: 'forbidden' }),
  'an object store': {
    status: 403,
    text: '<Error><Code>AccessDenied</Code></Error>',
    type: 'application/xml',
  },
  'a metrics server': { status: 404, text: '404 page not found', type: 'text/plain' },
  'a health endpoint for every address': json(200, { status: 'ok' }),
  'an empty list for every address': json(200, []),
  'null for every address': json(200, null),
  'text for every address': json(200, 'ok'),
  'nothing for every address': { status: 204 },
  'an empty page for every address': { status: 200, text: '', type: 'application/json' },
}

const repository = repositoryName('lake')
const ASKING: Readonly<Record<string, (client: LakefsClient) => Promise<unknown>>> = {
  'reading the server': (client) => readServerInfo(client),
  'listing repositories': (client) => first(listRepositories(client)),
  'reading a branch': (client) => openLakefsRepo(client, repository).readBranch(branchName('main')),
  'reading the log': (client) =>
    first(openLakefsRepo(client, repository).log(branchName('main'), { limit: 1 })),
  'listing objects': (client) => first(openLakefsRepo(client, repository).list(branchName('main'))),
  'reading a commit': (client) => openLakefsRepo(client, repository).readCommit(commitRef('a'.repeat(64))),
  'resolving a name': (client) => resolveRef(client, { repository, ref: 'main~1' }),
}

async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item
  return undefined
}

async function clientOf(reaction: (path: string) => Reaction): Promise<LakefsClient> {
  const server = await startScriptedServer(({ path }) => reaction(path))
  onTestFinished(() => server.close())
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'very-secret-value' }
  const client = createLakefsClient({ endpoint: server.url, ...credentials, clock: instantClock() })
  onTestFinished(() => client.close())
  return client
}

test.each(Object.entries(SERVERS))(
  'LC-211 %s is not lakeFS, whatever is asked first',
  async (_, reaction) => {
    for (const [asking, ask] of Object.entries(ASKING)) {
      const client = await clientOf(() => reaction)
      await expect(ask(client), asking).rejects.toMatchObject({ kind: 'invalid', code: 'lakefs/not-lakefs' })
    }
  },
)

test.each(['no Route matched with those values', 'Not Found'])(
  'LC-212 a gateway that says %j as lakeFS would is not lakeFS, and nothing is called missing',
  async (message) => {
    for (const asking of [
      'reading the server',
      'listing repositories',
      'reading a branch',
      'reading a commit',
    ]) {
      const client = await clientOf(() => json(404, { message }))
      const failure = ASKING[asking]!(client)
      await expect(failure, asking).rejects.toMatchObject({ kind: 'invalid', code: 'lakefs/not-lakefs' })
    }
  },
)

test('LC-212 a lakeFS that does not let a key read its configuration still says what is missing', async () => {
  const forbidden = json(403, { message: 'insufficient permissions' })
  const client = await clientOf((path) =>
    path.endsWith('/config') ? forbidden : json(404, { message: 'not found' }),
  )
  await expect(ASKING['reading a branch']!(client)).rejects.toMatchObject({
    code: 'lakefs/no-such-repository',
  })
})
