// The guides' commands, word for word, against the built package; each prints what its page shows.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openProject } from './support/cli/command.ts'
import { runGuide } from './support/cli/guide.ts'
import { PROJECT_ROOT } from './support/source-tree.ts'

const TEST_MS = 150_000

async function run(page: string): Promise<string> {
  const project = await openProject()
  onTestFinished(() => project.close())
  return runGuide(page, { project })
}

test(
  'EX-20 a task is refused, and both ways on lead out, by the commands of the guide',
  async () => {
    const printed = await run('docs/guides/recover-after-a-refusal.md')
    expect(printed).toContain('branch-moved: the branch has moved away')
  },
  TEST_MS,
)
