import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memorySource } from '../../../test/support/workspace/memory-source.ts'
import { spawnOwner } from '../../../test/support/workspace/spawn-owner.ts'
import { ATTEMPT, temporaryDirectory, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { WORKSPACE_OWNER_SILENT_MS } from '../limits.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { collectOrphans, collectPeriodically } from './collect-orphans.ts'
import { layOut } from '../laying-out/lay-out.ts'
import { lockPathOf, openWorkspaceRoot, workerHome, type WorkspaceRoot } from './ownership.ts'
import { identifyThisProcess, readProcessStart } from '../../base/process-identity.ts'
import { takeProcessLock } from './process-lock.ts'
import { removeTree } from './remove-tree.ts'

const TOKEN = 'a'.repeat(32)

/** A worker's directory as it would be found, with any facts; its lock is free unless `locked`. */
async function plantWorker(
  root: WorkspaceRoot,
  changes: Readonly<Record<string, unknown>>,
  options: {
    readonly lock?: 'free' | 'held' | 'none'
    readonly silentMs?: number
    readonly token?: string
  } = {},
): Promise<string> {
  const { lock = 'free', silentMs = 0, token = TOKEN } = options
  const home = workerHome(root.directory, token)
  await mkdir(join(home, 'attempts', 'x', 'tree'), { recursive: true })
  await writeFile(join(home, 'attempts', 'x', 'tree', 'work'), 'precious')
  const record = {
    format: 'perago-worker',
    version: 1,
    token,
    workerId: 'planted',
    ...(await identifyThisProcess()),
    startedAt: new Date().toISOString(),
    ...changes,
  }
  await writeFile(join(home, 'worker.json'), JSON.stringify(record))
  const beat = join(home, 'beat')
  await writeFile(beat, '.')
  const then = new Date(Date.now() - silentMs)
  await utimes(beat, then, then)
  if (lock !== 'none') {
    const held = await takeProcessLock(lockPathOf(root.directory, token))
    if (lock === 'free') held?.release()
    else onTestFinished(() => held?.release())
  }
  return home
}

/** No process has this pid: it is above the highest that Linux gives. */
const NO_PID = 2 ** 30
const ELSEWHERE = { pidNamespace: 'pid:[1]', pid: NO_PID }
const OTHER_MACHINE = { machine: 'another', pid: NO_PID }
const LONG_MS = WORKSPACE_OWNER_SILENT_MS + 60_000

describe('directories of dead workers', () => {
  test('WS-50 what a killed worker left behind is removed; what a living one works on stays', async () => {
    const root = await temporaryRoot()
    const [living, killed] = await Promise.all([spawnOwner(root.directory), spawnOwner(root.directory)])
    expect(await collectOrphans(root)).toMatchObject({ removed: [] })
    await killed.kill()
    const { removed, kept } = await collectOrphans(root)
    expect(removed).toEqual([killed.token])
    expect(kept.map(({ token }) => token)).toEqual([living.token])
    expect(existsSync(killed.dir)).toBe(false)
    expect(await readFile(join(living.dir, 'a'), 'utf8')).toBe('content')
    expect(existsSync(lockPathOf(root.directory, killed.token))).toBe(false)
    expect(await readdir(join(root.directory, 'trash'))).toEqual([])
  })

  test('WS-50 a pid that is used again by another process does not keep a directory', async () => {
    const root = await temporaryRoot()
    const home = await plantWorker(root, { pid: process.pid, processStart: 'long ago' })
    expect((await collectOrphans(root)).removed).toEqual([TOKEN])
    expect(existsSync(home)).toBe(false)
  })

  test.each([
    ['its process runs, though its lock is free', {}, {}],
    ['its process is gone, but its lock is held', { pid: NO_PID }, { lock: 'held' }],
    ['it is in another container and its lock is held', ELSEWHERE, { lock: 'held' }],
    ['it is in another container and has no lock file', ELSEWHERE, { lock: 'none' }],
    ['it is on another machine and was in use not long ago', OTHER_MACHINE, {}],
    ['it is on another machine and its lock is held', OTHER_MACHINE, { lock: 'held', silentMs: LONG_MS }],
    ['it is on another machine and has no lock file', OTHER_MACHINE, { lock: 'none', silentMs: LONG_MS }],
    ['its worker file is of another format', { pid: NO_PID, version: 2 }, {}],
    ['its worker file names another', { pid: NO_PID, token: 'b'.repeat(32) }, {}],
  ] as const)('WS-51 a directory stays when %s', async (_why, changes, options) => {
    const root = await temporaryRoot()
    const home = await plantWorker(root, changes, options)
    const { removed, kept } = await collectOrphans(root)
    expect(removed).toEqual([])
    expect(kept.map(({ token }) => token)).toEqual([TOKEN])
    expect(await readFile(join(home, 'attempts', 'x', 'tree', 'work'), 'utf8')).toBe('precious')
  })

  test.each([
    ['its process is gone', { pid: NO_PID }, {}],
    ['its process is gone and its lock file too', { pid: NO_PID }, { lock: 'none' }],
    ['it was in another container and its lock is free', ELSEWHERE, {}],
    [
      'it was on another machine, its lock is free and it has long been silent',
      OTHER_MACHINE,
      { silentMs: LONG_MS },
    ],
  ] as const)('WS-51 a directory goes when %s', async (_why, changes, options) => {
    const root = await temporaryRoot()
    const home = await plantWorker(root, changes, options)
    expect((await collectOrphans(root)).removed).toEqual([TOKEN])
    expect(existsSync(home)).toBe(false)
  })

  test('WS-52 nothing that is not recognised is touched: other names, unmarked directories, another program’s', async () => {
    const root = await temporaryRoot()
    const foreign = [
      'task_id=1-exec=2/.perago-attempt.json',
      'workers/notes/file',
      `workers/${'c'.repeat(32)}/no-worker-file`,
      'trash/mine/file',
      'locks/other.lock',
      'file',
    ]
    for (const path of foreign) {
      await mkdir(join(root.directory, path, '..'), { recursive: true })
      await writeFile(join(root.directory, path), '{"owner_pid": 1}')
    }
    expect((await collectOrphans(root)).removed).toEqual([])
    for (const path of foreign) expect(existsSync(join(root.directory, path))).toBe(true)
  })

  test('WS-53 several collectors at once remove each directory once, and trip over nothing', async () => {
    const root = await temporaryRoot()
    const other = await openWorkspaceRoot({ directory: root.directory, workerId: 'other' })
    onTestFinished(() => other.close())
    const tokens = Array.from({ length: 6 }, (_, index) => String(index).repeat(32))
    for (const token of tokens) await plantWorker(root, { pid: NO_PID }, { token })
    const results = await Promise.all([collectOrphans(root), collectOrphans(other), collectOrphans(root)])
    expect(results.flatMap(({ removed }) => removed).sort()).toEqual(tokens)
    expect((await readdir(join(root.directory, 'workers'))).sort()).toEqual([root.token, other.token].sort())
  })

  test('WS-53 a removal that a crash cut short is finished by the next collection', async () => {
    const root = await temporaryRoot()
    const trash = join(root.directory, 'trash', 'd'.repeat(32))
    await mkdir(join(trash, 'half'), { recursive: true })
    await writeFile(join(trash, 'half', 'file'), '')
    await collectOrphans(root)
    expect(existsSync(trash)).toBe(false)
  })

  test('WS-53 a lock file without a directory goes once it is old, and stays while it is young', async () => {
    const root = await temporaryRoot()
    const old = new Date(Date.now() - LONG_MS)
    const [young, stale, held] = ['1', '2', '3'].map((digit) => lockPathOf(root.directory, digit.repeat(32)))
    for (const path of [young!, stale!]) (await takeProcessLock(path))?.release()
    const lock = await takeProcessLock(held!)
    onTestFinished(() => lock?.release())
    for (const path of [stale!, held!]) await utimes(path, old, old)
    await collectOrphans(root)
    expect([young, stale, held].map((path) => existsSync(path!))).toEqual([true, false, true])
  })

  test('WS-54 collecting goes on until it is told to stop', async () => {
    const directory = await temporaryDirectory()
    const clock = new ManualClock()
    const root = await openWorkspaceRoot({ directory, workerId: 'w', clock })
    onTestFinished(() => root.close())
    const stop = new AbortController()
    const collecting = collectPeriodically(root, { signal: stop.signal, intervalMs: 1000 })
    await expect.poll(() => clock.sleeping).toBe(1)
    const home = await plantWorker(root, { pid: NO_PID })
    await clock.advance(1000)
    await expect.poll(() => existsSync(home)).toBe(false)
    // One round that fails is not the last.
    await expect.poll(() => clock.sleeping).toBe(1)
    await rename(join(directory, 'locks'), join(directory, 'elsewhere'))
    await clock.advance(1000)
    await expect.poll(() => clock.sleeping).toBe(1)
    await rename(join(directory, 'elsewhere'), join(directory, 'locks'))
    const second = await plantWorker(root, { pid: NO_PID })
    await clock.advance(1000)
    await expect.poll(() => existsSync(second)).toBe(false)
    stop.abort()
    await collecting
  })
})

describe('a root', () => {
  test('WS-55 closing removes what is left and gives up the lock; closing again is fine', async () => {
    const directory = await temporaryDirectory()
    const root = await openWorkspaceRoot({ directory, workerId: 'w' })
    await layOut({ root, attempt: ATTEMPT, source: memorySource({ a: '1' }), spec: {} })
    const closing = root.close()
    expect(root.close()).toBe(closing)
    await closing
    for (const part of ['workers', 'locks', 'trash']) expect(await readdir(join(directory, part))).toEqual([])
    const late = layOut({ root, attempt: ATTEMPT, source: memorySource({}), spec: {} })
    await expect(late).rejects.toMatchObject({ code: 'workspace/root-closed' })
  })

  test('WS-55 a root that cannot be made says so', async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'file'), '')
    const failure = openWorkspaceRoot({ directory: join(directory, 'file', 'root'), workerId: 'w' })
    await expect(failure).rejects.toMatchObject({
      code: 'workspace/disk-failed',
      details: { systemCode: 'ENOTDIR' },
    })
  })

  test('WS-56 a directory is removed whatever a body did to it, and no link is followed', async () => {
    const directory = await temporaryDirectory()
    const outside = join(directory, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'stays'), '')
    const tree = join(directory, 'tree')
    await mkdir(join(tree, 'locked', 'deep'), { recursive: true })
    await writeFile(join(tree, 'locked', 'deep', 'file'), '')
    await writeFile(Buffer.concat([Buffer.from(`${tree}/bad-`), Buffer.from([0xfe])]), '')
    await symlink(outside, join(tree, 'link'))
    await chmod(join(tree, 'locked', 'deep'), 0o000)
    await chmod(join(tree, 'locked'), 0o500)
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
    expect(existsSync(join(outside, 'stays'))).toBe(true)
    await removeTree(tree)
  })
})

describe('processes', () => {
  test('WS-57 the start of a process is told as long as it runs', async () => {
    const { processStart } = await identifyThisProcess()
    expect(await readProcessStart(process.pid)).toBe(processStart)
    expect(await readProcessStart(NO_PID)).toBeUndefined()
  })

  test('WS-57 a lock is held by one, free after release, and free after its process was killed', async () => {
    const directory = await temporaryDirectory()
    const path = join(directory, 'x.lock')
    const first = await takeProcessLock(path)
    expect(first).toBeDefined()
    expect(await takeProcessLock(path)).toBeUndefined()
    first?.release()
    first?.release()
    const second = await takeProcessLock(path)
    expect(second).toBeDefined()
    second?.release()

    const owner = await spawnOwner(directory)
    const lockPath = lockPathOf(directory, owner.token)
    expect(await takeProcessLock(lockPath)).toBeUndefined()
    await owner.kill()
    const inherited = await takeProcessLock(lockPath)
    expect(inherited).toBeDefined()
    inherited?.release()
  })

  test('WS-57 a lock that cannot be taken at all is an error, not an answer', async () => {
    const directory = await temporaryDirectory()
    await expect(takeProcessLock(join(directory, 'no', 'such', 'x.lock'))).rejects.toMatchObject({
      code: 'workspace/lock-failed',
    })
  })
})
