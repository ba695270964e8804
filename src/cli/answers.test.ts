import { expect, test } from 'vitest'
import { plainRedactor } from '../base/redaction.ts'
import { InvalidError } from '../base/errors.ts'
import { answer } from './answers.ts'
import { showFailure } from './run.ts'
import type { Terminal } from './terminal.ts'

const HOSTILE = 'a\u009b31m\u202ecba\u2066\u007f\u200f'

function openTerminal(): { readonly terminal: Terminal; readonly written: () => string } {
  let written = ''
  const write = (text: string): void => {
    written += text
  }
  const same = (text: string): string => text
  const terminal: Terminal = {
    ...{ answer: write, say: write, directory: '.', environment: {}, redactor: plainRedactor },
    style: { bad: same, good: same, faint: same },
    keepSecret: () => undefined,
    stopSignal: () => new AbortController().signal,
  }
  return { terminal, written: () => written }
}

test('CL-123 in the output of --json control characters and changes of direction are escaped', () => {
  const { terminal, written } = openTerminal()
  answer(terminal, { json: true }, { name: HOSTILE }, () => '')
  expect(JSON.parse(written())).toEqual({ name: HOSTILE })
  expect(written()).toContain(String.raw`"a\u009b31m\u202ecba\u2066\u007f\u200f"`)
})

test('CL-123 so they are in the document of an error', () => {
  const { terminal, written } = openTerminal()
  const error = new InvalidError('cli/bad-usage', `read ${HOSTILE}`, { details: { name: HOSTILE } })
  expect(showFailure(error, ['--json'], terminal)).toBe(2)
  expect(written().trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(written())).toMatchObject({ error: { details: { name: HOSTILE } } })
})
