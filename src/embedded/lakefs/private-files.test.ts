import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actAsNobody } from '../../../test/support/act-as-nobody.ts'
import { openLake, reopenLake, temporaryDir } from '../../../test/support/embedded-engine.ts'
import { startEmbeddedLakefs } from './server.ts'

/** Whatever somebody else may do anything with, with its mode. */
function openToOthers(dataDir: string): string[] {
  return ['.', ...(readdirSync(dataDir, { recursive: true }) as string[])]
    .map((name) => [name, statSync(join(dataDir, name)).mode & 0o777] as const)
    .filter(([, mode]) => (mode & 0o077) !== 0)
    .map(([name, mode]) => `${name} ${mode.toString(8)}`)
}

test('EE-77 no file or directory of a new data directory is open to others, also while it is served', async () => {
  const dataDir = join(temporaryDir(), 'data')
  mkdirSync(dataDir, { mode: 0o755 })
  const server = await startEmbeddedLakefs({ dataDir, repositories: ['lake'] })
  expect(openToOthers(dataDir)).toEqual([])
  await server.close()
  expect(openToOthers(dataDir)).toEqual([])
})

test('EE-77 an older directory is made private when it is opened', async () => {
  const dataDir = temporaryDir()
  const lake = await openLake({ dataDir })
  await lake.put('main', 'a')
  await lake.engine.close()
  for (const name of ['.', 'objects', 'temp']) chmodSync(join(dataDir, name), 0o755)
  for (const name of ['metadata.sqlite', 'lock.sqlite', 'perago-lakefs.json']) {
    chmodSync(join(dataDir, name), 0o664)
  }
  const after = await reopenLake({ dataDir })
  expect(openToOthers(dataDir)).toEqual([])
  expect(await after.read('main', 'a')).toBe('a')
})

test('ES-140 what others may use, and this user may not close to them, is refused with the path, and nothing is changed', async () => {
  const dataDir = temporaryDir()
  await (await startEmbeddedLakefs({ dataDir })).close()
  // A directory of another user that everybody may read, such as one that was mounted there.
  const isRoot = process.geteuid?.() === 0
  const foreign = isRoot ? temporaryDir() : '/usr'
  if (isRoot) chmodSync(foreign, 0o755)
  actAsNobody(dataDir)
  const objects = join(dataDir, 'objects')
  renameSync(objects, `${objects}.kept`)
  symlinkSync(foreign, objects)
  await expect(startEmbeddedLakefs({ dataDir })).rejects.toMatchObject({
    code: 'embedded/open-to-others',
    kind: 'refused',
    message: expect.stringContaining(`${objects}: others may use it (mode 755)`) as string,
    details: { path: objects },
    next: expect.stringContaining('chmod') as string,
  })
  expect(statSync(foreign).mode & 0o777).toBe(0o755)
  unlinkSync(objects)
  renameSync(`${objects}.kept`, objects)
  await (await startEmbeddedLakefs({ dataDir })).close()
})
