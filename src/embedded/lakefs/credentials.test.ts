import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { loadCredentials } from './credentials.ts'

const CREDENTIALS_FILE = 'credentials.json'

let dataDir = ''

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'perago-credentials-'))
})

afterEach(async () => {
  await rm(dataDir, { recursive: true })
})

test('ES-12 generated once, stored for the owner alone, then used again', async () => {
  const first = await loadCredentials({ dataDir, given: undefined })
  expect(first.generated).toBe(true)
  expect(first.accessKeyId).toMatch(/^AKIAJ[A-Z2-7]{16}$/)
  expect(first.secretAccessKey).toHaveLength(40)
  const file = join(dataDir, CREDENTIALS_FILE)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(dataDir)).toEqual([CREDENTIALS_FILE])
  const second = await loadCredentials({ dataDir, given: undefined })
  expect(second).toEqual({ ...first, generated: false })
})

test('ES-12 given credentials are used and never stored', async () => {
  const given = { accessKeyId: 'KEY', secretAccessKey: 'a-given-secret' }
  const first = await loadCredentials({ dataDir, given })
  expect(first).toMatchObject({ ...given, generated: false })
  expect(await readFile(join(dataDir, CREDENTIALS_FILE), 'utf8')).not.toContain('a-given-secret')
  const second = await loadCredentials({ dataDir, given })
  expect(second.signingSecret).toBe(first.signingSecret)
  expect((await loadCredentials({ dataDir, given: undefined })).generated).toBe(true)
})

test('ES-12 in memory every start has its own', async () => {
  const [one, two] = [
    await loadCredentials({ dataDir: undefined, given: undefined }),
    await loadCredentials({ dataDir: undefined, given: undefined }),
  ]
  expect(one.secretAccessKey).not.toBe(two.secretAccessKey)
  expect(one.signingSecret).not.toBe(two.signingSecret)
})

test('ES-13 a file that others could read is made private, and a warning says so once', async () => {
  await loadCredentials({ dataDir, given: undefined })
  const file = join(dataDir, CREDENTIALS_FILE)
  await chmod(file, 0o644)
  const { warnings } = await loadCredentials({ dataDir, given: undefined })
  expect(warnings).toEqual([expect.stringContaining('could be read by others (mode 644)')])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await loadCredentials({ dataDir, given: undefined })).warnings).toEqual([])
})

test.each([
  ['no JSON', '{'],
  ['no secret', '{}'],
  ['half a pair', JSON.stringify({ accessKeyId: 'A', signingSecret: 'x'.repeat(43) })],
])('ES-13 a credentials file with %s is named and left alone', async (_, content) => {
  const file = join(dataDir, CREDENTIALS_FILE)
  await writeFile(file, content)
  await expect(loadCredentials({ dataDir, given: undefined })).rejects.toMatchObject({
    code: 'embedded/bad-credentials-file',
    kind: 'invalid',
  })
  expect(await readFile(file, 'utf8')).toBe(content)
})
