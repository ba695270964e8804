import { expect, test } from 'vitest'
import { InvalidError } from './errors.ts'
import { branchName, commitRef, isCommitRef, repositoryName } from './ids.ts'

const digits = '0123456789abcdef'.repeat(4)

test.each([
  [
    'a commit ref',
    commitRef,
    [digits],
    [digits.slice(1), `${digits}0`, digits.toUpperCase(), 'main', '', `${digits}\n`],
  ],
  ['a branch name', branchName, ['main', '_x', 'a-b_C9'], ['', '-a', 'a/b', 'a.b', 'ä', 'a b', 'main\n']],
  [
    'a repository name',
    repositoryName,
    ['abc', '0-9', 'a'.repeat(63)],
    ['ab', 'a'.repeat(64), 'Abc', '-abc', 'a_b', 'abc\n'],
  ],
] as const)('BA-59 %s is read as lakeFS reads it, and nothing else is', (_name, read, good, bad) => {
  for (const text of good) expect(read(text)).toBe(text)
  for (const text of bad) expect(() => read(text)).toThrow(InvalidError)
})

test('BA-59 a long text is not repeated whole in the message', () => {
  expect(isCommitRef(digits)).toBe(true)
  expect(() => branchName('/'.repeat(100_000))).toThrow(/^.{1,300}$/)
})
