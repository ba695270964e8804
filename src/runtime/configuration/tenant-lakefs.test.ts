import { expect, test } from 'vitest'
import { readTenantLakefs } from './tenant-lakefs.ts'

test('EN-724 each tenant has its own lakeFS and key', () => {
  const { lakefs, problems } = readTenantLakefs(`
    # TENANT ADDRESS KEY SECRET
    acme  https://lake.example/  AKIA1 s1
    zoo http://127.0.0.1:8000 AKIA2   s2
  `)
  expect(problems).toEqual([])
  expect([...lakefs]).toEqual([
    [
      'acme',
      { endpoint: 'https://lake.example', credentials: { accessKeyId: 'AKIA1', secretAccessKey: 's1' } },
    ],
    [
      'zoo',
      { endpoint: 'http://127.0.0.1:8000', credentials: { accessKeyId: 'AKIA2', secretAccessKey: 's2' } },
    ],
  ])
})

test.each([
  ['acme https://lake.example AKIA1', 'line 1: expected TENANT'],
  ['acme https://lake.example AKIA1 secret more', 'line 1: expected TENANT'],
  ['acme https://me:secret@lake.example AKIA1 secret', 'line 1: its address'],
  ['acme ftp://lake.example AKIA1 secret', 'line 1: its address'],
  ['acme https://a.example K secret\nacme https://b.example K secret', 'line 2: its tenant'],
])('EN-724 a wrong line is named, and none of its secrets (%#)', (text, problem) => {
  const { problems } = readTenantLakefs(text)
  expect(problems.join()).toContain(problem)
  expect(problems.join()).not.toContain('secret')
})
