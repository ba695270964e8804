// Goal: few functions stand between a call of a room and the socket, so that a reader can follow one request.
// Method: the stack when a request is handed to the pool: our functions and p-retry's, those that await included.
import { Pool } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { instantClock, startScriptedServer, type Reaction } from '../../test/conformance/scripted-server.ts'
import { branchName, commitRef, repositoryName } from '../base/ids.ts'
import { openConductorClient } from '../conductor/client.ts'
import { createDefinitionRegistry } from '../conductor/definitions.ts'
import { createLakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { WorkflowId } from '../worker/ports.ts'

const FRAMES_MAX = 12
const BRANCH = branchName('main')
const REF = commitRef('a'.repeat(64))

/** The functions from the one that a test called to the pool, the latest first, with the pool itself. */
async function framesOf(reaction: Reaction, act: (url: string) => Promise<unknown>): Promise<string[]> {
  const server = await startScriptedServer(() => reaction)
  onTestFinished(() => server.close())
  let stack = ''
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the pool it was taken from
  const dispatch = Pool.prototype.dispatch
  const spy = vi.spyOn(Pool.prototype, 'dispatch').mockImplementation(function (this: Pool, ...given) {
    const before = Error.stackTraceLimit
    Error.stackTraceLimit = 100
    stack = new Error('here').stack ?? ''
    Error.stackTraceLimit = before
    return dispatch.apply(this, given)
  })
  onTestFinished(() => spy.mockRestore())
  await act(server.url)
  const frames = stack.split('\n').map((line) => line.trim())
  const isOurs = (line: string): boolean =>
    /\/src\/|\/p-retry\//.test(line) && !line.includes('frames.test.ts')
  return ['dispatch', ...frames.filter(isOurs)]
}

test('a read of the repository reaches the pool within twelve functions', async () => {
  const frames = await framesOf({ status: 200, json: { id: 'main', commit_id: REF } }, async (url) => {
    const client = createLakefsClient({ endpoint: url, accessKeyId: 'a', secretAccessKey: 'secret' })
    await openLakefsRepo(client, repositoryName('repo')).readBranch(BRANCH)
    await client.close()
  })
  expect(frames.length).toBeGreaterThan(4)
  expect(frames.length).toBeLessThanOrEqual(FRAMES_MAX)
})

test('a merge reaches the pool within twelve functions', async () => {
  const frames = await framesOf({ status: 200, json: { reference: REF } }, async (url) => {
    const client = createLakefsClient({ endpoint: url, accessKeyId: 'a', secretAccessKey: 'secret' })
    await openLakefsRepo(client, repositoryName('repo')).merge({ source: REF, into: BRANCH })
    await client.close()
  })
  expect(frames.length).toBeLessThanOrEqual(FRAMES_MAX)
})

test('a termination of a workflow reaches the pool within twelve functions', async () => {
  const frames = await framesOf({ status: 200, text: '', type: 'text/plain' }, async (url) => {
    const client = openConductorClient({ endpoint: url, clock: instantClock() })
    await createDefinitionRegistry(client).terminateWorkflow('w' as WorkflowId, 'why')
    await client.close()
  })
  expect(frames.length).toBeLessThanOrEqual(FRAMES_MAX)
})
