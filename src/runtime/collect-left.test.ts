import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { spawnOwner } from '../../test/support/workspace/spawn-owner.ts'
import { temporaryDirectory } from '../../test/support/workspace/temporary-root.ts'
import { repositoryName } from '../base/ids.ts'
import { silentLogger } from '../base/logger.ts'
import { collectDirectories, readStagingNotes, writeStagingNotes } from './collect-left.ts'

test('RE-18 the directory of a killed worker is shown first, then removed; that of a live one stays', async () => {
  const root = await temporaryDirectory()
  const [living, killed] = await Promise.all([spawnOwner(root), spawnOwner(root)])
  const collect = (apply: boolean) => collectDirectories(root, { apply, logger: silentLogger })
  expect((await collect(true)).due).toEqual([])
  await killed.kill()
  expect((await collect(false)).due).toEqual([killed.token])
  expect(existsSync(killed.dir)).toBe(true)
  const { due, kept } = await collect(true)
  expect([due, kept.map(({ token }) => token)]).toEqual([[killed.token], [living.token]])
  expect([existsSync(killed.dir), existsSync(living.dir)]).toEqual([false, true])
})

test('RE-17 since when branches were seen is kept below the root; what cannot be read counts as nothing', async () => {
  const root = await temporaryDirectory()
  const lake = repositoryName('lake')
  const seen = { 'perago-staging-x': { head: 'h', sinceMs: 1 } }
  expect(await readStagingNotes(root, lake)).toEqual({ after: '', seen: {} })
  await writeStagingNotes(root, lake, { after: 'x', seen })
  expect(await readStagingNotes(root, lake)).toEqual({ after: '', seen })
})
