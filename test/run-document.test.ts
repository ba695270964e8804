// What runs the commands of documents: scripts/run-document.mjs.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { placeDocument } from './support/cli/placed-document.ts'
import { PROJECT_ROOT } from './support/source-tree.ts'

const RUN_DOCUMENT = join(PROJECT_ROOT, 'scripts/run-document.mjs')
const SOON = { timeout: 10_000 }

const RUNS = '<!-- run -->\n```sh\necho "made 1f2e3d4c5b at $(date -u +%FT%T.000Z)"; echo; echo bye\n```\n'
const shows = (...lines: string[]): string =>
  `${RUNS}\n<!-- prints -->\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`

test.each([
  [
    'another id and time are no difference',
    shows('made 0a1b2c3d4e at 2026-01-02T03:04:05.678Z', 'bye'),
    undefined,
  ],
  ['`…` stands for anything', shows('made …', '…', 'bye'), undefined],
  ['a line that was not printed', shows('made …', 'goodbye'), 'a line that was not printed:\ngoodbye'],
  ['lines in another order', shows('bye', 'made …'), 'a line that was not printed:\nmade'],
  ['a command that fails', '<!-- run -->\n```sh\nfalse | cat\n```\n', 'ended with 1'],
  ['an exit code that is expected', '<!-- run: exit code 3 -->\n```sh\nexit 3\n```\n', undefined],
  ['another exit code', '<!-- run: exit code 3 -->\n```sh\nexit 4\n```\n', 'ended with 4'],
  [
    'a variable of an earlier block',
    '<!-- run -->\n```sh\nCITY="Bad Urach"\n```\n<!-- run -->\n```sh\n[ "$CITY" = "Bad Urach" ]; [ -z "$(printenv CITY)" ]\n```\n',
    undefined,
  ],
  ['nothing to be run', '```sh\nexit 4\n```\n', 'no block is marked'],
])('EX-24 a document is run: %s', async (_, text, wrong) => {
  const { directory, page } = await placeDocument(text)
  const ran = promisify(execFile)(process.execPath, [RUN_DOCUMENT, page, directory])
  if (wrong === undefined) expect((await ran).stdout).toContain(' blocks run')
  else await expect(ran).rejects.toThrow(wrong)
})

const block = (how: string, commands: string): string => `<!-- ${how} -->\n\`\`\`sh\n${commands}\n\`\`\`\n`

test('EX-27 a document that is ended early leaves none of its programs behind', async () => {
  const serves = block('run: serves', 'echo $$ > served; echo ready there; sleep 100')
  const { directory, page } = await placeDocument(serves + block('run', 'echo $$ > run; sleep 100'))
  const ran = promisify(execFile)(process.execPath, [RUN_DOCUMENT, page, directory])
  const readIds = () =>
    Promise.all(['served', 'run'].map(async (name) => Number(await readFile(join(directory, name), 'utf8'))))
  await expect.poll(readIds, SOON).toSatisfy((ids: readonly number[]) => ids.every((id) => id > 0))
  const ids = await readIds()
  ran.child.kill()
  await expect(ran).rejects.toThrow('Command failed')
  await expect.poll(() => ids.filter(isAlive), SOON).toEqual([])
})

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}
