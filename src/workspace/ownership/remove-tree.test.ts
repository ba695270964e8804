// Goal: whatever a body left behind is removed, nothing else is, and what cannot be removed keeps nothing else.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi, type TestContext } from 'vitest'
import { silentLogger, type LogFields, type Logger } from '../../base/logger.ts'
import { temporaryDirectory } from '../../../test/support/workspace/temporary-root.ts'
import { collectOrphans } from './collect-orphans.ts'
import { openWorkspaceRoot, workerHome, type WorkspaceRoot } from './ownership.ts'
import { identifyThisProcess } from '../../base/process-identity.ts'
import { emptyTrash, removeTree } from './remove-tree.ts'

/** Called when a directory has been listed, before anything in it is removed. */
const listed = vi.hoisted(() => ({ then: undefined as (() => Promise<void>) | undefined }))
vi.mock('node:fs/promises', async (original) => {
  const real: { readonly readdir: (...given: unknown[]) => Promise<unknown> } = await original()
  const readdir = async (...given: unknown[]): Promise<unknown> => {
    const entries = await real.readdir(...given)
    await listed.then?.()
    return entries
  }
  return { ...real, readdir }
})

const LONG_NAME = 'n'.repeat(255)
const DEEP = 5_000
const NOBODY = 65_534
/** They take seconds, and many more on a busy machine. */
const BUSY = { timeout: 180_000 }
const REGISTER = new URL('../../../test/support/typescript-child/register.mjs', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../../../test/support/workspace/remove-program.ts', import.meta.url))

test(
  'WS-223 a tree of 5,000 levels with names of 255 bytes is removed, with the files in it',
  BUSY,
  async (context) => {
    needLinux(context)
    const directory = await scratchDirectory()
    const tree = join(directory, 'tree')
    await mkdir(tree)
    makeDeep(tree, DEEP)
    await removeTree(tree)
    expect(await readdir(directory)).toEqual([])
  },
)

test('WS-223 a removal needs few descriptors, and leaves none open', async (context) => {
  needLinux(context)
  const directory = await scratchDirectory()
  await mkdir(join(directory, 'tree'))
  makeDeep(join(directory, 'tree'), 300)
  const before = openDescriptors()
  let most = 0
  listed.then = () => {
    most = Math.max(most, openDescriptors())
    return Promise.resolve()
  }
  onTestFinished(() => void (listed.then = undefined))
  await removeTree(join(directory, 'tree'))
  expect(most).toBeLessThan(before + 50)
  expect(openDescriptors()).toBe(before)
})

test('WS-224 an immutable file, a mount and a deep tree keep nothing else of the root', async (context) => {
  needLinux(context)
  const { root, warnings } = await openRoot()
  const [immutable, mounted, deep, plain] = await Promise.all(
    ['1', '2', '3', '4'].map((name) => plantDead(root, name)),
  )
  protect(join(immutable!, 'tree', 'protected'), context)
  mount(['-t', 'tmpfs', 'tmpfs', join(mounted!, 'tree', 'protected')], context)
  await writeFile(join(mounted!, 'tree', 'protected', 'theirs'), '')
  makeDeep(join(deep!, 'tree'), 100)

  const { removed, kept } = await collectOrphans(root)
  expect(removed).toEqual(['3', '4'].map(tokenOf))
  expect(kept.map(({ token }) => token)).toEqual(['1', '2'].map(tokenOf))
  expect(await readdir(join(root.directory, 'workers'))).toEqual([root.token])
  expect(existsSync(plain!)).toBe(false)
  // All but what is protected is gone.
  const trash = join(root.directory, 'trash')
  const left = execFileSync('find', [trash, '-type', 'f', '-printf', '%f\n'], { encoding: 'utf8' })
  expect(left.split('\n').sort()).toEqual(['', 'protected', 'theirs'])
  expect(warnings).toHaveLength(2)

  // The next round is as good as the first.
  const later = await plantDead(root, '5')
  expect((await collectOrphans(root)).removed).toEqual([tokenOf('5')])
  expect(existsSync(later)).toBe(false)
})

test('WS-224 what cannot be removed is told once, with what is in the way', async (context) => {
  needLinux(context)
  const { root, warnings } = await openRoot()
  const home = await plantDead(root, '1')
  protect(join(home, 'tree', 'protected'), context)
  for (let round = 0; round < 3; round++) await collectOrphans(root)
  const before = warnings.length
  await collectOrphans(root)
  expect(warnings).toHaveLength(before)
  expect(warnings[0]).toMatchObject({
    error: {
      code: 'workspace/not-removed',
      details: { count: 1, troubles: [{ path: 'tree/protected', why: 'EPERM' }] },
    },
  })
})

test('WS-224 a worker whose own directory cannot be removed closes its root all the same', async (context) => {
  needLinux(context)
  const { root, warnings } = await openRoot()
  const path = join(workerHome(root.directory, root.token), 'attempts', 'protected')
  await writeFile(path, '')
  protect(path, context)
  await root.close()
  expect(warnings).toHaveLength(1)
  expect(await readdir(join(root.directory, 'locks'))).toEqual([])
})

test(
  'WS-224 without rights of the superuser, what another user owns stays and the rest goes',
  BUSY,
  async (context) => {
    needSuperuser(context)
    const directory = await scratchDirectory()
    await chmod(directory, 0o755)
    const [mine, theirs] = [join(directory, 'mine'), join(directory, 'mixed')]
    await mkdir(join(mine, 'locked', 'deep'), { recursive: true })
    await mkdir(join(theirs, 'of-root', 'in'), { recursive: true })
    for (const path of [join(mine, 'locked', 'deep'), theirs]) await writeFile(join(path, 'file'), '')
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, directory])
    execFileSync('chown', ['-R', '0:0', join(theirs, 'of-root')])
    await chmod(join(mine, 'locked', 'deep'), 0o000)
    await chmod(join(mine, 'locked'), 0o500)
    await chmod(mine, 0o000)
    const ends = removeAsNobody([mine, theirs], context)
    expect(ends).toMatchObject([
      { code: 'removed' },
      { code: 'workspace/not-removed', details: { troubles: [{ path: 'of-root/in', why: 'EPERM' }] } },
    ])
    expect(await readdir(directory)).toEqual(['mixed'])
    expect(await readdir(theirs)).toEqual(['of-root'])
  },
)

test('WS-225 a link in the trash is removed, and what it leads to stays', async () => {
  const { root, outside } = await openRoot()
  await symlink(outside, join(root.directory, 'trash', 'a'.repeat(32)))
  await emptyTrash(root.directory, { onTrouble: (_, error) => expect.fail(String(error)) })
  expect(await readdir(join(root.directory, 'trash'))).toEqual([])
  expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('precious')
})

test('WS-225 a directory of the same file system that is mounted in a tree keeps its files', async (context) => {
  needLinux(context)
  const { root, outside } = await openRoot()
  const tree = join(root.directory, 'trash', 'a'.repeat(32))
  await mkdir(join(tree, 'in', 'mounted'), { recursive: true })
  mount(['--bind', outside, join(tree, 'in', 'mounted')], context)
  await expect(removeTree(tree)).rejects.toMatchObject({
    code: 'workspace/not-removed',
    details: { troubles: [{ path: 'in/mounted', why: 'a file system is mounted there' }] },
  })
  expect(await readdir(outside)).toEqual(['precious'])
})

test('WS-225 a directory that a link replaces while it is removed does not lead outside', async () => {
  const { root, outside } = await openRoot()
  const tree = join(root.directory, 'tree')
  await mkdir(join(tree, 'in'), { recursive: true })
  await writeFile(join(tree, 'in', 'precious'), '')
  whenListed(1, async () => {
    await rename(join(tree, 'in'), join(tree, 'moved'))
    await symlink(outside, join(tree, 'in'))
  })
  // What was added behind its back is left to the next round.
  await removeTree(tree).catch(() => undefined)
  await removeTree(tree)
  expect(existsSync(tree)).toBe(false)
  expect(await readdir(outside)).toEqual(['precious'])
})

test('WS-225 what somebody moves away while it is removed keeps its files, and so does where it went', async (context) => {
  needLinux(context)
  const { root, outside } = await openRoot()
  const tree = join(root.directory, 'tree')
  const [levels, moved] = [100, 40]
  const names = Array.from({ length: levels }, (_, at) => `d${at}`)
  await mkdir(join(tree, ...names), { recursive: true })
  for (const [at] of names.entries()) await writeFile(join(tree, ...names.slice(0, at), 'file'), '')
  whenListed(levels - 10, () => rename(join(tree, ...names.slice(0, moved)), join(outside, 'd')))
  await expect(removeTree(tree)).rejects.toMatchObject({ code: 'workspace/not-removed' })
  expect((await readdir(outside)).sort()).toEqual(['d', 'precious'])
  // The files above were removed when it was still inside; the one that was listed last was not.
  expect(existsSync(join(outside, 'd', ...names.slice(moved, levels - 11), 'file'))).toBe(true)
  await removeTree(tree)
  expect(existsSync(tree)).toBe(false)
})

/** Runs when so many directories have been listed, once. */
function whenListed(count: number, action: () => Promise<void>): void {
  let left = count
  listed.then = async () => {
    if (--left === 0) await action()
  }
  onTestFinished(() => void (listed.then = undefined))
}

async function scratchDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  onTestFinished(() => {
    const mounts = fs.readFileSync('/proc/self/mounts', 'utf8').matchAll(/^\S+ (\S+) /gm)
    for (const [, at = ''] of mounts) if (at.startsWith(directory)) execFileSync('umount', ['-l', at])
    execFileSync('sh', ['-c', 'chattr -R -f -i "$0"; rm -rf "$0"', directory])
  })
  return directory
}

async function openRoot() {
  const directory = await scratchDirectory()
  const outside = join(directory, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'precious'), 'precious')
  const warnings: LogFields[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (_message, fields = {}) => void warnings.push(fields),
    child: () => logger,
  }
  const root = await openWorkspaceRoot({ directory: join(directory, 'root'), workerId: 'w', logger })
  onTestFinished(() => root.close())
  return { root, outside, warnings }
}

function tokenOf(name: string): string {
  return name.repeat(32)
}

/** What a worker left that ended long ago: a tree with a file and a directory. Gives its home. */
async function plantDead(root: WorkspaceRoot, name: string): Promise<string> {
  const home = workerHome(root.directory, tokenOf(name))
  await mkdir(join(home, 'tree', 'directory'), { recursive: true })
  await writeFile(join(home, 'tree', 'file'), '')
  const identity = { ...(await identifyThisProcess()), pid: 2 ** 30, token: tokenOf(name) }
  const record = { format: 'perago-worker', version: 1, workerId: name, startedAt: '', ...identity }
  await writeFile(join(home, 'worker.json'), JSON.stringify(record))
  return home
}

/** One directory below another, each with a file, without a path that is too long. */
function makeDeep(top: string, levels: number): void {
  const flags = fs.constants.O_RDONLY | fs.constants.O_DIRECTORY
  let descriptor = fs.openSync(top, flags)
  for (let level = 0; level < levels; level++) {
    fs.writeFileSync(`/proc/self/fd/${descriptor}/file`, '')
    const path = `/proc/self/fd/${descriptor}/${LONG_NAME}`
    fs.mkdirSync(path)
    const next = fs.openSync(path, flags)
    fs.closeSync(descriptor)
    descriptor = next
  }
  fs.closeSync(descriptor)
}

function openDescriptors(): number {
  return fs.readdirSync('/proc/self/fd').length
}

function removeAsNobody(directories: readonly string[], context: TestContext): unknown {
  const args = ['--import', REGISTER, PROGRAM, ...directories]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    uid: NOBODY,
    gid: NOBODY,
    encoding: 'utf8',
  })
  if (status !== 0 && stderr.includes('EACCES')) context.skip('another user may not read this project')
  return JSON.parse(stdout)
}

function needLinux(context: TestContext): void {
  if (process.platform !== 'linux') context.skip('directories are reached by descriptors on Linux alone')
}

function needSuperuser(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('giving files to another user takes the superuser')
}

function protect(path: string, context: TestContext): void {
  try {
    if (!existsSync(path)) fs.writeFileSync(path, '')
    execFileSync('chattr', ['+i', path], { stdio: 'ignore' })
  } catch {
    context.skip('making a file immutable takes the superuser and a file system that can')
  }
}

function mount(args: readonly string[], context: TestContext): void {
  const at = args.at(-1) ?? ''
  fs.mkdirSync(at, { recursive: true })
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
  } catch {
    context.skip('mounting takes the superuser')
  }
}
