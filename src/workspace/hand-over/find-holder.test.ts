// Goal: whoever could still write into a directory is found, wherever it is and however short each process of it lives.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openHandOverWorld, type HandOverWorld } from '../../../test/support/workspace/hand-over-world.ts'
import { mounted, type MountedKind } from '../../../test/support/workspace/mounted.ts'
import { temporaryDirectory, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'

const objects = { 'a/1': 'one', top: 'four' }

/** Starts a program, ends it with the test, and waits for its first line. */
async function leaveRunning(command: string, ...args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    // With all that it started.
    if (child.pid !== undefined) spawnSync('kill', ['-KILL', '--', `-${child.pid}`])
    child.stdout.destroy()
    await ended
  })
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

async function expectRefusal(world: HandOverWorld, why: RegExp): Promise<void> {
  const left = await world.leave()
  expect(left).toMatchObject({ isHandedOver: false, why: expect.stringMatching(why) as string })
}

describe('a directory is not handed over while a process in another mount namespace', () => {
  beforeEach(({ skip }) => {
    const permitted = spawnSync('unshare', ['-m', 'true']).status === 0
    skip(!permitted, 'mount namespaces cannot be made here')
  })

  /** Runs a script of the shell in a new mount namespace, in which the tree is mounted at `$0`. */
  async function leaveInNamespace(world: HandOverWorld, script: string): Promise<void> {
    const elsewhere = join(await temporaryDirectory(), 'elsewhere')
    await mkdir(elsewhere)
    const mountIt = `mount --bind '${world.workspace.dir}' "$0" && cd / && ${script}`
    await leaveRunning('unshare', '-m', 'sh', '-c', mountIt, elsewhere)
  }

  test('WS-205 has it mounted, and nothing of it open', async () => {
    const world = await openHandOverWorld(objects)
    await leaveInNamespace(world, 'echo ready && exec sleep 60')
    await expectRefusal(world, /^process \d+ has a part of it mounted$/)
  })

  test('WS-205 has a directory of it mounted', async () => {
    const world = await openHandOverWorld(objects)
    await leaveInNamespace(
      world,
      'mount --bind "$0/a" "$0" && umount -l "$0" && mount --bind "$0/a" /mnt && umount -l "$0" && echo ready && exec sleep 60',
    )
    await expectRefusal(world, /^process \d+ has a part of it mounted$/)
  })

  for (const kind of ['here', 'ext4', 'xfs', 'btrfs'] as const satisfies readonly (MountedKind | 'here')[]) {
    const where = kind === 'here' ? '' : `, on ${kind}`
    const open = async (context: Parameters<typeof mounted>[1]): Promise<HandOverWorld> =>
      openHandOverWorld(
        objects,
        {},
        await temporaryRoot(kind === 'here' ? undefined : await mounted(kind, context)),
      )

    test(`WS-205 has a file of it open under a name that leads nowhere any more${where}`, async (context) => {
      const world = await open(context)
      await leaveInNamespace(world, 'exec 3>>"$0/top" && umount -l "$0" && echo ready && exec sleep 60')
      await expectRefusal(world, /^process \d+ has ".*" open$/)
    })

    test(`WS-205 works in a directory of it whose name leads nowhere any more${where}`, async (context) => {
      const world = await open(context)
      await leaveInNamespace(world, 'cd "$0/a" && umount -l "$0" && echo ready && exec sleep 60')
      await expectRefusal(world, /^process \d+ has it as its working directory$/)
    })

    test(`WS-205 has a file of it mapped, and not open${where}`, async (context) => {
      const world = await open(context)
      const program = `
import mmap, os, subprocess, sys, time
with open(sys.argv[1] + '/top', 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0)
subprocess.run(['umount', '-l', sys.argv[1]], check=True)
for number in os.listdir('/proc/self/fd'):
    if int(number) > 2:
        try: os.close(int(number))
        except OSError: pass
print('ready', flush=True)
time.sleep(60)`
      await leaveInNamespace(world, `exec python3 -c '${program.replaceAll("'", `'"'"'`)}' "$0"`)
      await expectRefusal(world, /^process \d+ has a file of it mapped$/)
    })
  }
})

describe('a directory is not handed over while', () => {
  test('WS-206 a file of it is passed on from process to process, each of which soon ends', async () => {
    const missed: string[] = []
    for (let round = 0; round < 5; round++) {
      const world = await openHandOverWorld(objects)
      const program = `
import os, sys, time
held = open(sys.argv[1], 'r+b')
print('ready', flush=True)
until = time.monotonic() + 20
while time.monotonic() < until:
    if os.fork() > 0: os._exit(0)`
      await leaveRunning('python3', '-c', program, join(world.workspace.dir, 'top'))
      const left = await world.leave()
      if (left.isHandedOver) missed.push(`round ${round}`)
    }
    expect(missed).toEqual([])
  })

  test('WS-206 a thread of a program has a file of it open, and its first thread has ended', async () => {
    const world = await openHandOverWorld(objects)
    const program = `
import ctypes, os, sys, threading, time
held = open(sys.argv[1], 'r+b')
threading.Thread(target=time.sleep, args=(60,)).start()
print('ready', flush=True)
ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)`
    await leaveRunning('python3', '-c', program, join(world.workspace.dir, 'top'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await expectRefusal(world, /^process \d+ has ".*\/top" open$/)
  })
})
