// The printed script, in the shells that this machine has.
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import { openTestTerminal } from '../../../test/support/cli/test-terminal.ts'
import { buildProgram } from '../program.ts'
import { runCli } from '../run.ts'
import { readShapes } from './shape.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-completion-'))
  await mkdir(join(directory, 'data dir'))
  await writeFile(join(directory, 'tasks.ts'), '')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { terminal, printed } = openTestTerminal()
    expect(await runCli(['completion', shell], terminal)).toBe(0)
    await writeFile(join(directory, shell), printed())
  }
})
afterAll(() => rm(directory, { recursive: true }))

function skipWithout(shell: string, context: TestContext): void {
  if (spawnSync(shell, ['--version']).status !== 0) context.skip(`${shell} is not installed`)
}

function runIn(shell: string, script: string, args: readonly string[] = []) {
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script, shell, ...args], {
    cwd: directory,
    encoding: 'utf8',
  })
  expect([stderr, status]).toEqual(['', 0])
  return stdout.split('\n').filter(Boolean).sort()
}

/** As bash itself does when the key is pressed: it splits at `=`. */
function completeInBash(...words: string[]): string[] {
  const script =
    'source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perago; printf "%s\\n" "${COMPREPLY[@]}"'
  return runIn('bash', script, words)
}

const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ['perago', 'co'],
    ['completion', 'config'],
  ],
  [
    ['perago', 'store', ''],
    ['export', 'import', 'reseal', 'verify'],
  ],
  [['perago', 'lakefs', '--data', 'store', 'f'], ['fsck']],
  [
    ['perago', 'start', '--he'],
    ['--health-host', '--health-port', '--help'],
  ],
  [['perago', 'start', '--log-level', 'e'], ['error']],
  [
    ['perago', 'completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['perago', 'help', 'rec'], ['recover']],
  [['perago', 'check', 'ta'], ['tasks.ts']],
  [['perago', 'start', 'tasks.ts', '--root', 'da'], ['data dir']],
  [['perago', 'run', 'a', '--repo', ''], []],
]

/** Names of files are the business of the shell itself. */
const PLAIN_CASES = CASES.filter(([, expected]) => expected.length > 0 && !expected[0]!.includes(' '))

describe('bash', () => {
  test.each(CASES)('CL-189 bash completes %j', (words, expected) => {
    expect(completeInBash(...words)).toEqual(expected)
  })

  test('CL-189 bash completes behind an equals sign', () => {
    expect(completeInBash('perago', 'start', '--log-level', '=', 'de')).toEqual(['debug'])
    expect(completeInBash('perago', 'start', '--log-level', '=')).toContain('debug')
    expect(completeInBash('perago', 'lakefs', '--data', '=', 'gc', 'f')).toEqual(['fsck'])
  })

  test('CL-189 bash knows every command and every option of the program', () => {
    const shapes = readShapes(buildProgram(openTestTerminal().terminal))
    expect(shapes.length).toBeGreaterThan(40)
    for (const { path, options } of shapes.filter((_, index) => index % 8 === 0))
      expect(completeInBash(...path.split(' '), '-')).toEqual(
        expect.arrayContaining(options.map(({ name }) => name)),
      )
    for (const { path, words } of shapes.filter(({ words: inner }) => inner.length > 0))
      expect(completeInBash(...path.split(' '), '')).toEqual(words.map(({ name }) => name).sort())
  })
})

describe('zsh', () => {
  test.for(PLAIN_CASES)('CL-190 zsh completes %j', ([words, expected], context) => {
    skipWithout('zsh', context)
    // The functions of its completion system, so far as the script calls them.
    const stubs = `compdef() { : }
_describe() { local a; for a in \${(P)2}; do print -r -- \${a%%:*}; done }
_files() { print -rl -- *(N) }
compadd() { shift; print -rl -- "$@" }`
    const script = `${stubs}\nsource ./zsh; words=("$@"); CURRENT=$#; _perago`
    const cur = words.at(-1)!
    expect(runIn('zsh', script, words).filter((word) => word.startsWith(cur))).toEqual(expected)
  })
})

describe('fish', () => {
  test.for(PLAIN_CASES)('CL-190 fish completes %j', ([words, expected], context) => {
    skipWithout('fish', context)
    const line = words.join(' ')
    const offered = runIn('fish', `source ./fish; complete -C '${line}'`)
    expect(offered.map((word) => word.split('\t')[0])).toEqual(expect.arrayContaining([...expected]))
  })
})
