/** File systems that are made and mounted for one test. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import { temporaryDirectory } from './temporary-root.ts'

export type MountedKind = 'tmpfs' | 'ext4' | 'xfs' | 'btrfs'

/** A new directory in a new file system of that kind. Skips the test where it cannot be made. */
export async function mounted(kind: MountedKind, { skip }: Pick<TestContext, 'skip'>): Promise<string> {
  const place = await temporaryDirectory()
  const directory = join(place, 'mounted')
  await mkdir(directory)
  try {
    if (kind === 'tmpfs') mount(['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs'], directory)
    else {
      const image = join(place, 'image')
      run('truncate', ['-s', '320M', image])
      run(`mkfs.${kind}`, [kind === 'ext4' ? '-F' : '-q', image])
      mount(['-o', 'loop', image], directory)
    }
  } catch {
    skip(`${kind} cannot be made and mounted here`)
  }
  return directory
}

/** An overlay that writes to `upper`. */
export async function mountedOverlay(upper: string, { skip }: Pick<TestContext, 'skip'>): Promise<string> {
  const directory = await temporaryDirectory()
  const [lower, written, work] = [join(directory, 'lower'), join(upper, 'upper'), join(upper, 'work')]
  const merged = join(directory, 'merged')
  for (const each of [lower, written, work, merged]) await mkdir(each)
  const options = `lowerdir=${lower},upperdir=${written},workdir=${work}`
  try {
    mount(['-t', 'overlay', 'overlay', '-o', options], merged)
  } catch {
    skip('overlays cannot be mounted here')
  }
  return merged
}

function mount(args: readonly string[], directory: string): void {
  run('mount', [...args, directory])
  onTestFinished(() => {
    if (existsSync(directory)) run('umount', ['-l', directory])
  })
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  })
}
