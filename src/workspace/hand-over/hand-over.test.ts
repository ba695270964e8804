// Goal: what the next attempt takes over is exactly what laying out its commit would give, and nobody else can reach it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, statSync, utimesSync } from 'node:fs'
import {
  appendFile,
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHandOverWorld, type HandOverWorld } from '../../../test/support/workspace/hand-over-world.ts'
import { md5Of } from '../../../test/support/workspace/memory-source.ts'
import { mounted } from '../../../test/support/workspace/mounted.ts'
import {
  ATTEMPT,
  attemptsOf,
  temporaryDirectory,
  temporaryRoot,
} from '../../../test/support/workspace/temporary-root.ts'
import { diffWorkspace } from '../comparing/diff.ts'
import { describeHeld } from './held-directory.ts'
import { findHolder, readProcessMoment } from './find-holder.ts'
import type { HandedOver, HandOver } from './hand-over.ts'

const objects = { 'a/1': 'one', 'a/2': 'two', 'b/3': 'three', top: 'four' }

async function handedOver(world: HandOverWorld): Promise<HandedOver> {
  const left = await world.leave()
  if (!left.isHandedOver) throw new Error(left.why)
  return left.directory
}

describe('a directory that is handed over', () => {
  test('WS-70 is the new commit: what a body wrote, replaced and removed, and nothing has to be stored again', async () => {
    const world = await openHandOverWorld(objects)
    const { dir } = world.workspace
    await writeFile(join(dir, 'a/1'), 'changed')
    await writeFile(join(dir, 'a/0'), 'new')
    await mkdir(join(dir, 'c/d'), { recursive: true })
    await writeFile(join(dir, 'c/d/é'), 'deep')
    await rm(join(dir, 'a/2'))
    await rm(join(dir, 'b'), { recursive: true })
    const taken = await world.take(await world.leave())
    if (!taken.isTaken) throw new Error(taken.why)
    const { workspace } = taken
    expect(
      [...workspace.manifest.entries()].map(({ path, checksum, contentType }) => [
        path,
        checksum,
        contentType,
      ]),
    ).toEqual([
      ['a/0', md5Of('new'), 'application/octet-stream'],
      ['a/1', md5Of('changed'), 'application/octet-stream'],
      ['c/d/é', md5Of('deep'), 'application/octet-stream'],
      ['top', md5Of('four'), 'application/octet-stream'],
    ])
    const again = await diffWorkspace(workspace)
    expect(again).toMatchObject({ uploads: [], deletes: [], unchangedCount: 4, hashedCount: 0 })
    await writeFile(join(workspace.dir, 'top'), 'next')
    expect((await diffWorkspace(workspace)).uploads.map(({ key }) => key)).toEqual(['top'])
    await workspace.remove()
  })

  test('WS-70 shows no trace of the body before: permissions, empty directories and what the globs left out are gone', async () => {
    const world = await openHandOverWorld(objects, { exclude: ['**/*.tmp'] })
    const { dir } = world.workspace
    const usual = statSync(join(dir, 'top')).mode
    await chmod(join(dir, 'top'), 0o755)
    await writeFile(join(dir, 'new'), 'x', { mode: 0o600 })
    await chmod(join(dir, 'a'), 0o700)
    await mkdir(join(dir, 'empty/within'), { recursive: true })
    await mkdir(join(dir, 'scratch'))
    await writeFile(join(dir, 'scratch/it.tmp'), 'scratch')
    await writeFile(join(world.workspace.scratch, 'result.json'), '{}')
    const taken = await world.take(await world.leave())
    if (!taken.isTaken) throw new Error(taken.why)
    const { workspace } = taken
    expect((await readdir(workspace.dir)).sort()).toEqual(['a', 'b', 'new', 'top'])
    for (const name of ['top', 'new']) expect(statSync(join(workspace.dir, name)).mode).toBe(usual)
    expect(statSync(join(workspace.dir, 'a')).mode).toBe(statSync(join(workspace.dir, 'b')).mode)
    expect(await readdir(workspace.scratch)).toEqual(['.clock'])
    await workspace.remove()
  })

  test('WS-71 has another path and another marker, and the attempt before can neither see nor remove it', async () => {
    const world = await openHandOverWorld(objects)
    const { workspace } = world
    const left = await handedOver(world)
    expect(existsSync(workspace.dir)).toBe(false)
    expect(() => workspace.assertOwned()).toThrow(
      expect.objectContaining({ code: 'workspace/directory-gone' }),
    )
    await workspace.remove()
    expect(existsSync(left.aside.tree)).toBe(true)
    const taken = await world.take({ isHandedOver: true, directory: left })
    if (!taken.isTaken) throw new Error(taken.why)
    taken.workspace.assertOwned()
    expect(taken.workspace.dir).not.toBe(workspace.dir)
    expect(taken.workspace.owned.marker).toMatchObject({ ...ATTEMPT, taskId: 'next' })
    expect(taken.workspace.owned.marker.token).not.toBe(workspace.owned.marker.token)
    await taken.workspace.remove()
    expect(await attemptsOf(world.root)).toEqual([])
  })

  test('WS-71 is given to one of two who want it', async () => {
    const world = await openHandOverWorld(objects)
    const left: HandOver = { isHandedOver: true, directory: await handedOver(world) }
    const taken = await Promise.all([world.take(left), world.take(left), world.take(left)])
    expect(taken.filter(({ isTaken }) => isTaken)).toHaveLength(1)
  })

  test('WS-71 goes with its process, like everything it owns', async () => {
    const world = await openHandOverWorld(objects)
    const { aside } = await handedOver(world)
    await world.root.close()
    expect(existsSync(aside.path)).toBe(false)
  })
})

test('WS-202 nothing is handed over where the times of files do not show every edit', async (context) => {
  const world = await openHandOverWorld(objects, {}, await temporaryRoot(await mounted('tmpfs', context)))
  const left = await world.leave()
  expect(left).toMatchObject({ isHandedOver: false, why: expect.stringContaining('tmpfs') as string })
})

describe('a directory is not handed over', () => {
  const holds: Readonly<Record<string, (world: HandOverWorld) => Promise<void> | void>> = {
    'this process has a file of it open': ({ workspace }) => {
      const file = openSync(join(workspace.dir, 'top'), 'r+')
      onTestFinished(() => closeSync(file))
    },
    'a program that a body left behind stands in it': async ({ workspace }) => {
      const child = spawn('sleep', ['60'], { cwd: workspace.dir, detached: true, stdio: 'ignore' })
      const ended = once(child, 'exit')
      onTestFinished(async () => {
        child.kill('SIGKILL')
        await ended
      })
      await once(child, 'spawn')
    },
    'a program that a body left behind has a file of it open': async ({ workspace }) => {
      const script = `exec 3>>"$0"; echo ready; sleep 60`
      const child = spawn('sh', ['-c', script, join(workspace.dir, 'new')], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = once(child, 'exit')
      onTestFinished(async () => {
        child.kill('SIGKILL')
        child.stdout.destroy()
        await ended
      })
      await once(child.stdout, 'data')
    },
  }
  test.runIf(process.platform === 'linux').each(Object.keys(holds))('WS-72 while %s', async (how) => {
    const world = await openHandOverWorld(objects)
    await holds[how]?.(world)
    const left = await world.leave()
    expect(left).toMatchObject({
      isHandedOver: false,
      why: expect.stringMatching(/^process \d+ /) as unknown,
    })
    await world.workspace.remove()
    expect(await attemptsOf(world.root)).toEqual([])
  })

  test('WS-72 where it cannot be told who holds it', async () => {
    const path = await temporaryDirectory()
    const held = describeHeld({ path, file: path, formerNames: [], hasInode: () => false })
    expect(await findHolder(held, undefined)).toContain('cannot be told')
    if (process.platform === 'linux') expect(await findHolder(held, readProcessMoment())).toBeUndefined()
  })

  test('WS-72 when a file of it has another name elsewhere', async () => {
    const world = await openHandOverWorld(objects)
    await link(join(world.workspace.dir, 'top'), join(world.workspace.scratch, 'other name'))
    expect(await world.leave()).toMatchObject({ isHandedOver: false })
  })

  test('WS-72 when it is not known what was stored, or it was not asked what there is', async () => {
    const world = await openHandOverWorld(objects)
    await writeFile(join(world.workspace.dir, 'new'), 'x')
    const { handOver } = await import('./hand-over.ts')
    const since = readProcessMoment()
    const { workspace } = world
    const changes = await diffWorkspace(workspace, { forHandOver: true })
    expect(await handOver({ workspace, changes, stored: new Map(), since })).toMatchObject({
      isHandedOver: false,
    })
    const unasked = await diffWorkspace(workspace)
    expect(await handOver({ workspace, changes: unasked, stored: new Map(), since })).toMatchObject({
      isHandedOver: false,
    })
    workspace.assertOwned()
  })
})

/** What anybody could do to a directory that nobody owns; each gets the directory of the files. */
const EDITS: Readonly<Record<string, (tree: string) => Promise<void> | void>> = {
  'the same size': (tree) => writeFile(join(tree, 'top'), 'FOUR'),
  'the same size, and its mtime set back': async (tree) => {
    const { atime, mtime } = statSync(join(tree, 'top'))
    await writeFile(join(tree, 'top'), 'FOUR')
    utimesSync(join(tree, 'top'), atime, mtime)
  },
  'the same bytes': (tree) => writeFile(join(tree, 'top'), 'four'),
  'another size': (tree) => appendFile(join(tree, 'top'), '!'),
  'an edit undone': async (tree) => {
    await appendFile(join(tree, 'top'), '!')
    await writeFile(join(tree, 'top'), 'four')
  },
  'a file renamed over it': async (tree) => {
    await writeFile(join(tree, '../other'), 'four')
    await rename(join(tree, '../other'), join(tree, 'top'))
  },
  'a copy in its place': async (tree) => {
    const path = join(tree, 'top')
    const { atime, mtime } = statSync(path)
    const content = await readFile(path)
    await rm(path)
    await writeFile(path, content)
    await utimes(path, atime, mtime)
  },
  'other permissions': (tree) => chmod(join(tree, 'top'), 0o755),
  'other permissions, given and taken back': async (tree) => {
    const { mode } = statSync(join(tree, 'top'))
    await chmod(join(tree, 'top'), 0o755)
    await chmod(join(tree, 'top'), mode & 0o777)
  },
  'another time': (tree) => utimes(join(tree, 'top'), new Date(0), new Date(0)),
  'an added file': (tree) => writeFile(join(tree, 'a/9'), ''),
  'an added directory': (tree) => mkdir(join(tree, 'empty')),
  'a removed file': (tree) => rm(join(tree, 'a/1')),
  'a removed directory': (tree) => rm(join(tree, 'b'), { recursive: true }),
  'two files that changed names': async (tree) => {
    await rename(join(tree, 'a/1'), join(tree, 'a/x'))
    await rename(join(tree, 'a/2'), join(tree, 'a/1'))
    await rename(join(tree, 'a/x'), join(tree, 'a/2'))
  },
  'a link in place of a file': async (tree) => {
    await rename(join(tree, 'top'), join(tree, '../top'))
    await symlink('../top', join(tree, 'top'))
  },
  'a link in place of a directory': async (tree) => {
    await rename(join(tree, 'b'), join(tree, '../b'))
    await symlink('../b', join(tree, 'b'))
  },
  'a directory in place of a file': async (tree) => {
    await rm(join(tree, 'top'))
    await mkdir(join(tree, 'top'))
  },
  'a second name': (tree) => link(join(tree, 'top'), join(tree, '../second')),
  'other permissions of a directory': (tree) => chmod(join(tree, 'a'), 0o700),
  'other permissions of all of it': (tree) => chmod(tree, 0o700),
  'all of it gone': (tree) => rm(tree, { recursive: true }),
  'the directory around it gone': (tree) => rm(dirname(tree), { recursive: true }),
  'a link in place of all of it': async (tree) => {
    await rename(tree, `${tree}-moved`)
    await symlink(`${tree}-moved`, tree)
  },
}

describe('what happened to a directory that nobody owned', () => {
  test.each(Object.keys(EDITS))(
    'WS-73 %s: it is noticed, nothing is taken over, and nothing stays',
    async (how) => {
      const world = await openHandOverWorld(objects)
      await writeFile(join(world.workspace.dir, 'a/2'), 'TWO')
      const left = await handedOver(world)
      await EDITS[how]?.(left.aside.tree)
      const taken = await world.take({ isHandedOver: true, directory: left })
      expect(taken).toMatchObject({ isTaken: false, why: expect.any(String) as unknown })
      expect(await attemptsOf(world.root)).toEqual([])
    },
  )

  test('WS-73 an abort while it is proven is an abort', async () => {
    const world = await openHandOverWorld(objects)
    const left = await handedOver(world)
    const { takeOver } = await import('./hand-over.ts')
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(takeOver(left, { root: world.root, attempt: ATTEMPT, signal })).rejects.toThrow('enough')
    expect(await attemptsOf(world.root)).toEqual([])
  })
})
