// Goal: whoever counts requests is told of each one that was made, tries that failed included.
import { expect, onTestFinished, test } from 'vitest'
import { instantClock, startScriptedServer } from '../../test/conformance/scripted-server.ts'
import { branchName, repositoryName } from '../base/ids.ts'
import type { RequestNotice } from '../remote/connection.ts'
import { createLakefsClient } from './client.ts'
import { openLakefsRepo } from './versioned-repo.ts'

test('LC-117 every request to lakeFS is told, with what was asked and answered, and each try anew', async () => {
  const answers = [{ status: 503, json: { message: 'busy' } }, 'drop', { status: 404, json: {} }] as const
  const server = await startScriptedServer((_, index) => answers[index] ?? 'drop')
  onTestFinished(() => server.close())
  const notices: RequestNotice[] = []
  const client = createLakefsClient({
    endpoint: server.url,
    accessKeyId: 'AKIATEST',
    secretAccessKey: 'very-secret-value',
    clock: instantClock(),
    onExchange: (notice) => notices.push(notice),
  })
  onTestFinished(() => client.close())
  const repo = openLakefsRepo(client, repositoryName('repo'))
  expect(await repo.readBranch(branchName('main')).catch(() => undefined)).toBeUndefined()
  const told = notices.map(({ operation, status }) => [operation, status])
  expect(told.slice(0, 3)).toEqual([
    ['getBranch', 503],
    ['getBranch', undefined],
    ['getBranch', 404],
  ])
  expect(server.seen).toHaveLength(notices.length)
  expect(notices.every(({ durationMs }) => durationMs >= 0)).toBe(true)
})
