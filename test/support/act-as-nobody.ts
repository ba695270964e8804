// The superuser may read everything, so a test of what may not be read acts as another user.
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { onTestFinished } from 'vitest'

const NOBODY = 65_534

/** Until the test has ended. The other user owns the temporary directory that `below` is in. */
export function actAsNobody(below: string): void {
  if (process.getuid?.() !== 0) return
  const top = join(tmpdir(), relative(tmpdir(), below).split(sep)[0] ?? '')
  execFileSync('chown', ['-R', String(NOBODY), top])
  process.seteuid?.(NOBODY)
  onTestFinished(() => process.seteuid?.(0))
}
