/** Small file systems, mounted for one test, and filled to the last byte or file. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import { temporaryDirectory } from './workspace/temporary-root.ts'

const FILL = 'fill'

export type SmallDisk = 'tmpfs' | 'ext4'

/** Skips the test where nothing can be mounted. */
export async function mountSmallDisk(kind: SmallDisk, context: TestContext): Promise<string> {
  const directory = await temporaryDirectory()
  const at = join(directory, 'disk')
  mkdirSync(at)
  try {
    mount(kind, directory, at)
  } catch {
    context.skip(`mounting a small disk (${kind}) takes the superuser, and for ext4 a loop device`)
  }
  onTestFinished(() => void execFileSync('umount', ['-l', at], { stdio: 'ignore' }))
  return at
}

function mount(kind: SmallDisk, directory: string, at: string): void {
  const options = { stdio: 'ignore' } as const
  if (kind === 'tmpfs') {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,nr_inodes=400', 'tmpfs', at], options)
    return
  }
  const image = join(directory, 'image')
  execFileSync('truncate', ['-s', '24M', image], options)
  // No blocks are kept back for the superuser, who runs this.
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', '-N', '400', image], options)
  execFileSync('mount', ['-o', 'loop', image, at], options)
}

/** Until not one more byte, or not one more file, can be written. */
export function fillDisk(at: string, what: 'bytes' | 'files'): void {
  const fill = join(at, FILL)
  mkdirSync(fill, { recursive: true })
  for (let size = what === 'bytes' ? 1_048_576 : 0; ; size = Math.floor(size / 2)) {
    for (let file = 0; tryWrite(join(fill, `${size}-${file}`), size); file++);
    if (size <= 1) break
  }
}

/** Undoes `fillDisk`. */
export function emptyDisk(at: string): void {
  rmSync(join(at, FILL), { recursive: true, force: true })
}

function tryWrite(path: string, size: number): boolean {
  try {
    writeFileSync(path, Buffer.alloc(size, 'x'))
    return true
  } catch {
    rmSync(path, { force: true })
    return false
  }
}
