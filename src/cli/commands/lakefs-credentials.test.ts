import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestTerminal } from '../../../test/support/cli/test-terminal.ts'
import { startEmbeddedLakefs } from '../../embedded/lakefs/server.ts'
import { runCli } from '../run.ts'

let directory: string
let secret: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-credentials-'))
  const server = await startEmbeddedLakefs({ dataDir: join(directory, '.perago/lakefs') })
  secret = server.secretAccessKey
  await server.close()
})
afterEach(() => rm(directory, { recursive: true }))

async function run(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  const { terminal, printed, said } = openTestTerminal({ directory })
  const code = await runCli(['lakefs', ...args], terminal)
  return { code, printed: printed(), said: said() }
}

test('CL-191 the credentials of the embedded lakeFS are shown again, to the owner of the data only', async () => {
  expect(await run('credentials')).toMatchObject({ code: 0, said: '' })
  expect((await run('credentials')).printed).toContain(secret)

  const uid = process.getuid?.() ?? 0
  vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  for (const args of [
    ['credentials'],
    ['credentials', '--json'],
    ['env', '--endpoint', 'http://127.0.0.1:1'],
  ]) {
    const { code, printed, said } = await run(...args)
    expect([code, printed]).toEqual([3, ''])
    expect(said).toContain('cli/not-the-owner')
    expect(said).not.toContain(secret)
  }
})

test('CL-191 whoever is shown them is told when others may read them too', async () => {
  await chmod(join(directory, '.perago/lakefs/credentials.json'), 0o644)
  const { code, printed, said } = await run('credentials')
  expect(code).toBe(0)
  expect(printed).toContain(secret)
  expect(said).toMatch(/^warning: others may read .*credentials\.json/)
})
