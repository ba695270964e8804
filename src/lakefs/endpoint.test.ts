import { expect, onTestFinished, test } from 'vitest'
import { startScriptedServer } from '../../test/conformance/scripted-server.ts'
import { InvalidError } from '../base/errors.ts'
import { repositoryName, type CommitRef } from '../base/ids.ts'
import { createLakefsClient, parseEndpoint } from './client.ts'
import { openLakefsRepo } from './versioned-repo.ts'

test.each([
  ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/api/v1'],
  ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/api/v1'],
  ['https://lakefs.example.com/api/v1', 'https://lakefs.example.com/api/v1'],
  ['https://example.com/behind/a/proxy//', 'https://example.com/behind/a/proxy/api/v1'],
])('LC-15 an endpoint is read as people write it: %s', (text, apiUrl) => {
  expect(parseEndpoint(text).apiUrl).toBe(apiUrl)
})

test.each([
  'localhost:8000',
  'ftp://example.com',
  'lakefs',
  'http://key:hidden-secret@example.com',
  'http://example.com?a=hidden-secret',
])('LC-16 what is no endpoint is refused without showing it: %s', (text) => {
  expect(() => parseEndpoint(text)).toThrow(InvalidError)
  expect(() => parseEndpoint(text)).toThrow(/^(?!.*hidden-secret).*$/)
})

test('LC-17 names and paths of any kind reach the server as they are', async () => {
  const server = await startScriptedServer(() => ({ status: 401, json: {} }))
  onTestFinished(() => server.close())
  const client = createLakefsClient({ endpoint: server.url, accessKeyId: 'a', secretAccessKey: 'secret' })
  onTestFinished(() => client.close())
  const repo = openLakefsRepo(client, repositoryName('repo'))
  const path = 'a/../b?c=d&e#f%2F+ü'
  await expect(repo.stat('main^2/~1' as CommitRef, path)).rejects.toMatchObject({ kind: 'invalid' })
  const url = new URL(server.seen[0]!.path, server.url)
  expect(url.pathname).toBe('/api/v1/repositories/repo/refs/main%5E2%2F~1/objects/stat')
  expect(url.searchParams.get('path')).toBe(path)
})
