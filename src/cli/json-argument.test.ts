import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestTerminal } from '../../test/support/cli/test-terminal.ts'
import { readJsonArgument, readJsonObjectArgument } from './json-argument.ts'
import { ARGUMENT_FILE_MAX_BYTES } from './limits.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-argument-'))
})
afterEach(() => rm(directory, { recursive: true }))

const read = (text: string, input = ''): Promise<unknown> =>
  readJsonArgument('--params', text, openTestTerminal({ directory, input: () => chunksOf(input) }).terminal)

async function* chunksOf(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 65_536)
    yield await Promise.resolve(bytes.subarray(at, at + 65_536))
}

const YAML = 'day: 2026-01-15   # stays text\ncities: [Köln, {name: Bonn, rows: 7}]\nnone: ~\n'
const VALUE = { day: '2026-01-15', cities: ['Köln', { name: 'Bonn', rows: 7 }], none: null }

test('CL-183 parameters come from the command line, a file of JSON or YAML, or standard input', async () => {
  await writeFile(join(directory, 'day.yaml'), YAML)
  await writeFile(join(directory, 'day.json'), JSON.stringify(VALUE, undefined, '\t'))
  expect(await read(JSON.stringify(VALUE))).toEqual(VALUE)
  expect(await read('@day.yaml')).toEqual(VALUE)
  expect(await read('@day.json')).toEqual(VALUE)
  expect(await read('-', YAML)).toEqual(VALUE)
  expect(await read('-', JSON.stringify(VALUE))).toEqual(VALUE)
})

test.each([
  ['{day: 1}', '', /read --params: .*JSON/],
  ['@absent.yaml', '', /"absent\.yaml": there is no such file/],
  ['@', '', /it is a directory/],
  ['@twice.yaml', '', /twice\.yaml:2:1: .*unique/],
  ['-', '', /standard input: it is empty/],
  ['-', 'a: [', /standard input:1:\d+: /],
  ['-', 'a: .inf', /standard input: line 1: Infinity is not a number in JSON/],
  ['-', 'a: &x 1\nb: *x', /standard input:2:4: .*aliases/],
  ['-', `"${'x'.repeat(ARGUMENT_FILE_MAX_BYTES)}"`, /standard input: it has more than \d+ bytes/],
])('CL-183 %s is refused, and the place is named', async (text, input, problem) => {
  await writeFile(join(directory, 'twice.yaml'), 'a: 1\na: 2\n')
  await expect(read(text, input)).rejects.toMatchObject({
    code: 'cli/bad-params',
    kind: 'invalid',
    message: expect.stringMatching(problem) as string,
    next: expect.stringContaining('@FILE') as string,
  })
})

test('CL-183 the input of a workflow must be an object', async () => {
  const { terminal } = openTestTerminal({ directory })
  await expect(readJsonObjectArgument('--input', '[1]', terminal)).rejects.toMatchObject({
    code: 'cli/bad-input',
    message: 'read --input: it is not an object',
  })
  expect(await readJsonObjectArgument('--input', '{"a": 1}', terminal)).toEqual({ a: 1 })
})
