import { execFileSync } from 'node:child_process'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memorySource } from '../../../test/support/workspace/memory-source.ts'
import { ATTEMPT, temporaryDirectory, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { GUARDRAIL_FAILURES_MAX, GUARDRAIL_JSON_MAX_BYTES } from '../limits.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import {
  checkGuardrails,
  forbidGlob,
  jsonMatches,
  maxBytes,
  maxFiles,
  requireDir,
  requireFile,
  requireGlob,
} from './guardrails.ts'
import { GuardrailError, type GuardrailFailure } from '../../tasks/guardrail-error.ts'
import type { Guardrail } from '../../tasks/guardrails.ts'
import { layOut } from '../laying-out/lay-out.ts'

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await temporaryDirectory()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(dir, dirname(path)), { recursive: true })
    await writeFile(join(dir, path), content)
  }
  return dir
}

async function failuresOf(
  dir: string,
  guardrails: readonly Guardrail[],
): Promise<readonly GuardrailFailure[]> {
  try {
    await checkGuardrails(guardrails, { dir, phase: 'post' })
    return []
  } catch (error) {
    if (error instanceof GuardrailError) return error.failures
    throw error
  }
}

const FILES = { 'a.csv': 'x,y', 'd/b.csv': '', 'd/.hidden': 'h', 'r.json': '{"rows": 3, "by": [1, "two"]}' }
const schema = z.object({ rows: z.int().min(1), by: z.array(z.union([z.number(), z.string()])) })

describe('the rules', () => {
  test('WS-40 what holds says nothing', async () => {
    const dir = await directoryWith(FILES)
    const rules = [
      requireFile('a.csv', { minBytes: 3 }),
      requireFile('d/b.csv'),
      requireDir('d'),
      requireGlob('**/*.csv', { min: 2, max: 2 }),
      requireGlob('*.none', { min: 0 }),
      forbidGlob('**/*.tmp'),
      maxFiles(4),
      maxBytes(33),
      jsonMatches('r.json', schema),
      async () => {},
    ]
    expect(await failuresOf(dir, rules)).toEqual([])
  })

  test.each([
    [requireFile('no'), { rule: 'requireFile', path: 'no', found: 'nothing', wanted: 'a file' }],
    [requireFile('d'), { rule: 'requireFile', path: 'd', found: 'a directory', wanted: 'a file' }],
    [requireFile('a.csv/x'), { path: 'a.csv/x', found: 'nothing, because "a.csv" is a file' }],
    [
      requireFile('d/b.csv', { minBytes: 1 }),
      { found: 'a file of 0 bytes', wanted: 'a file of 1 bytes or more' },
    ],
    [requireDir('no'), { rule: 'requireDir', found: 'nothing', wanted: 'a directory' }],
    [requireDir('a.csv'), { found: 'a file', wanted: 'a directory' }],
    [
      requireGlob('*.none'),
      { rule: 'requireGlob', path: '*.none', found: '0 files', wanted: '1 files or more' },
    ],
    [requireGlob('**/*.csv', { min: 3, max: 4 }), { found: '2 files', wanted: '3 to 4 files' }],
    [requireGlob('**/*.csv', { min: 0, max: 1 }), { found: '2 files', wanted: '0 to 1 files' }],
    [
      forbidGlob('**/.*'),
      { rule: 'forbidGlob', path: 'd/.hidden', found: 'it', wanted: 'nothing that matches "**/.*"' },
    ],
    [maxFiles(3), { rule: 'maxFiles', path: '.', found: '4 files', wanted: '3 at most' }],
    [maxBytes(32), { rule: 'maxBytes', path: '.', found: '33 bytes', wanted: '32 at most' }],
    [jsonMatches('no', schema), { rule: 'jsonMatches', path: 'no', found: 'nothing', wanted: 'a JSON file' }],
    [jsonMatches('d', schema), { found: 'a directory', wanted: 'a JSON file' }],
    [
      jsonMatches('a.csv', schema),
      { found: expect.stringContaining('invalid JSON') as string, wanted: 'a JSON file' },
    ],
  ])('WS-41 what does not hold names rule, path, found and wanted (%#)', async (rule, failure) => {
    expect(await failuresOf(await directoryWith(FILES), [rule])).toEqual([expect.objectContaining(failure)])
  })

  test('WS-41 each place where JSON has another form is named', async () => {
    const dir = await directoryWith({ 'r.json': '{"rows": 0, "by": [true]}' })
    const failures = await failuresOf(dir, [jsonMatches('r.json', schema)])
    expect(failures.map(({ path }) => path)).toEqual(['r.json#/rows', 'r.json#/by/0'])
  })

  test('WS-41 a JSON file that is too large is not read', async () => {
    const dir = await directoryWith({ 'r.json': '' })
    await truncate(join(dir, 'r.json'), GUARDRAIL_JSON_MAX_BYTES + 1)
    expect(await failuresOf(dir, [jsonMatches('r.json', schema)])).toMatchObject([
      { found: `${GUARDRAIL_JSON_MAX_BYTES + 1} bytes` },
    ])
  })

  test.each([
    () => requireFile('../x'),
    () => requireDir('/etc'),
    () => jsonMatches('', z.any()),
    () => requireGlob('/x'),
    () => forbidGlob('a/../b'),
    () => requireGlob('x', { min: 2, max: 1 }),
  ])('WS-42 a rule that makes no sense is refused when it is written (%#)', (write) => {
    expect(write).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error)
  })
})

describe('all of them', () => {
  test('WS-43 all failures come at once, in the order of the rules, as one error of the kind invalid', async () => {
    const dir = await directoryWith({ b: '1', c: '2' })
    async function sumsMatch(): Promise<string> {
      return Promise.resolve('sums that differ')
    }
    const rules = [requireFile('a'), requireFile('b'), forbidGlob('*'), sumsMatch, requireDir('d')]
    const failure = checkGuardrails(rules, { dir, phase: 'pre' })
    await expect(failure).rejects.toBeInstanceOf(GuardrailError)
    await expect(failure).rejects.toMatchObject({
      kind: 'invalid',
      code: 'workspace/pre-guardrail',
      phase: 'pre',
      failures: [
        { rule: 'requireFile', path: 'a' },
        { rule: 'forbidGlob', path: 'b' },
        { rule: 'forbidGlob', path: 'c' },
        { rule: 'sumsMatch', found: 'sums that differ' },
        { rule: 'requireDir', path: 'd' },
      ],
    })
    await expect(failure).rejects.toThrow(
      /^check the workspace before the body: .*requireFile "a": found nothing/,
    )
    await expect(checkGuardrails(rules, { dir, phase: 'post' })).rejects.toMatchObject({
      code: 'workspace/post-guardrail',
    })
  })

  test('WS-43 a rule of one’s own may return findings or throw, and the cause is kept', async () => {
    const dir = await directoryWith({})
    const cause = new TypeError('no such column')
    const rules = [
      async function named() {
        return Promise.resolve([{ path: 'x', found: 'a', wanted: 'b' }])
      },
      () => Promise.reject(cause),
    ]
    const failure = checkGuardrails(rules, { dir, phase: 'post' })
    await expect(failure).rejects.toMatchObject({
      cause,
      failures: [
        { rule: 'named', path: 'x', found: 'a', wanted: 'b' },
        { rule: 'guardrail', path: '.', found: 'an error: no such column' },
      ],
    })
  })

  test('WS-43 a rule with very many findings tells the first ones and counts the rest', async () => {
    const dir = await temporaryDirectory()
    for (let index = 0; index <= GUARDRAIL_FAILURES_MAX; index++) await writeFile(join(dir, `f${index}`), '')
    const failures = await failuresOf(dir, [forbidGlob('*')])
    expect(failures).toHaveLength(GUARDRAIL_FAILURES_MAX + 1)
    expect(failures.at(-1)).toMatchObject({ found: '1 more' })
  })

  test('WS-44 a rule that does not end is given up, told to stop, and counts as not kept', async () => {
    const clock = new ManualClock()
    let told = false
    const forever: Guardrail = ({ signal }) =>
      new Promise<undefined>(() => signal.addEventListener('abort', () => (told = true)))
    const failure = checkGuardrails([forever], {
      dir: await directoryWith({}),
      phase: 'post',
      clock,
      maxMs: 5,
    })
    const expectation = expect(failure).rejects.toMatchObject({
      failures: [{ rule: 'forever', found: 'no answer', wanted: 'one within 5 ms' }],
    })
    await clock.advance(5)
    await expectation
    expect(told).toBe(true)
  })

  test('WS-44 an abort ends the check with its own reason, not as a failed rule', async () => {
    const stop = new AbortController()
    const rule: Guardrail = ({ signal }) =>
      new Promise<undefined>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('gave up')))
        stop.abort(new Error('lease lost'))
      })
    const failure = checkGuardrails([rule], {
      dir: await directoryWith({}),
      phase: 'post',
      signal: stop.signal,
    })
    await expect(failure).rejects.toThrow('lease lost')
  })
})

describe('what they see', () => {
  test('WS-45 the files of the task and nothing else: no marker, whatever one asks for', async () => {
    const source = memorySource({ a: '1' })
    const { dir } = await layOut({ root: await temporaryRoot(), attempt: ATTEMPT, source, spec: {} })
    let seen: readonly string[] = []
    const look: Guardrail = async ({ entries }) => {
      seen = (await entries()).map(({ path }) => path)
    }
    expect(await failuresOf(dir, [maxFiles(1), maxBytes(1), requireGlob('**', { max: 1 }), look])).toEqual([])
    expect(seen).toEqual(['a'])
  })

  test('WS-46 no link is followed, neither the last nor one on the way', async () => {
    const outside = await directoryWith({ 'secret.json': '{"rows": 1, "by": []}' })
    const dir = await directoryWith({ 'a.csv': 'x' })
    await symlink(join(outside, 'secret.json'), join(dir, 'file.json'))
    await symlink(outside, join(dir, 'dir'))
    const failures = await failuresOf(dir, [
      requireFile('file.json'),
      requireFile('dir/secret.json'),
      requireDir('dir'),
      jsonMatches('file.json', schema),
      jsonMatches('dir/secret.json', schema),
      requireGlob('**/*.json'),
      maxFiles(1),
      forbidGlob('dir'),
    ])
    expect(failures.map(({ rule, path, found }) => [rule, path, found])).toEqual([
      ['requireFile', 'file.json', 'a symbolic link'],
      ['requireFile', 'dir/secret.json', 'nothing, because "dir" is a symbolic link'],
      ['requireDir', 'dir', 'a symbolic link'],
      ['jsonMatches', 'file.json', 'a symbolic link'],
      ['jsonMatches', 'dir/secret.json', 'nothing, because "dir" is a symbolic link'],
      ['requireGlob', '**/*.json', '0 files'],
      ['forbidGlob', 'dir', 'it'],
    ])
  })

  test('WS-46 a pipe is not waited for', async () => {
    const dir = await directoryWith({})
    execFileSync('mkfifo', [join(dir, 'p')])
    expect(await failuresOf(dir, [jsonMatches('p', schema), requireFile('p')])).toMatchObject([
      { found: 'a named pipe' },
      { found: 'a named pipe' },
    ])
  })
})
