// Goal: a root on a disk that is really full can be opened, and so be cleaned.
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, type TestContext } from 'vitest'
import { fillDisk, mountSmallDisk, type SmallDisk } from '../../../test/support/small-disk.ts'
import { WORKSPACE_RESERVE_FILES } from '../limits.ts'
import { collectOrphans } from './collect-orphans.ts'
import { openWorkspaceRoot, workerHome, type WorkspaceRoot } from './ownership.ts'
import { identifyThisProcess } from '../../base/process-identity.ts'

const DEAD = 'd'.repeat(32)
const DEAD_FILES = 120

const CASES = [
  ['tmpfs', 'bytes'],
  ['tmpfs', 'files'],
  ['ext4', 'bytes'],
  ['ext4', 'files'],
] as const

test.for(CASES)(
  'WS-226 a root on %s without %s left opens, and is cleaned',
  async ([kind, what], context) => {
    const { directory, disk, root } = await openedOnce(kind, context)
    expect(reserveOf(directory)).toHaveLength(WORKSPACE_RESERVE_FILES)
    await root.close()
    const home = await plantDead(directory)
    fillDisk(disk, what)
    await expect(writeFile(join(disk, 'one'), 'x')).rejects.toMatchObject({ code: 'ENOSPC' })

    const again = await open(directory)
    expect(reserveOf(directory)).toEqual([])
    expect((await collectOrphans(again)).removed).toEqual([DEAD])
    expect(existsSync(home)).toBe(false)
    // What the dead worker had is free now, and the reserve is there for the next time.
    expect(reserveOf(directory)).toHaveLength(WORKSPACE_RESERVE_FILES)
    await again.close()
  },
)

test.for(CASES)(
  'WS-226 two workers of a root on %s without %s left open it',
  async ([kind, what], context) => {
    const { directory, disk, root } = await openedOnce(kind, context)
    fillDisk(disk, what)
    await Promise.all([open(directory), open(directory)])
    // A worker that was there all the time is as well.
    expect((await collectOrphans(root)).removed).toEqual([])
  },
)

test.for(CASES)(
  'WS-227 without a reserve, an opening on %s without %s left says so and leaves nothing',
  async ([kind, what], context) => {
    const { directory, disk, root } = await openedOnce(kind, context)
    await root.close()
    await rm(join(directory, 'reserve'), { recursive: true })
    fillDisk(disk, what)
    await expect(open(directory)).rejects.toMatchObject({ code: 'workspace/disk-full', kind: 'unavailable' })
    for (const part of ['locks', 'workers', 'trash']) expect(readdirSync(join(directory, part))).toEqual([])
  },
)

/** A root that a worker has opened and collected in, on a disk of its own. */
async function openedOnce(kind: SmallDisk, context: TestContext) {
  const disk = await mountSmallDisk(kind, context)
  const directory = join(disk, 'root')
  const root = await open(directory)
  await collectOrphans(root)
  return { disk, directory, root }
}

async function open(directory: string): Promise<WorkspaceRoot> {
  const root = await openWorkspaceRoot({ directory, workerId: 'w' })
  onTestFinished(() => root.close())
  return root
}

function reserveOf(directory: string): readonly string[] {
  return readdirSync(join(directory, 'reserve'))
}

/** A worker that ended long ago, with most of the disk: bytes and files. */
async function plantDead(directory: string): Promise<string> {
  const home = workerHome(directory, DEAD)
  await mkdir(home)
  const identity = { ...(await identifyThisProcess()), pid: 2 ** 30, token: DEAD }
  const record = { format: 'perago-worker', version: 1, workerId: 'dead', startedAt: '', ...identity }
  await writeFile(join(home, 'worker.json'), JSON.stringify(record))
  for (let file = 0; file < DEAD_FILES; file++)
    await writeFile(join(home, `f${file}`), Buffer.alloc(65_536, 'x'))
  return home
}
