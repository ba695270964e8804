// A terminal for a command that runs in the process of the test.
import { plainRedactor } from '../../../src/base/redaction.ts'
import { styleFor, type Terminal } from '../../../src/cli/terminal.ts'

export interface TestTerminal {
  readonly terminal: Terminal
  /** Results so far. */
  readonly printed: () => string
  /** Notes and errors so far. */
  readonly said: () => string
}

export function openTestTerminal(given: Partial<Terminal> = {}): TestTerminal {
  let printed = ''
  let said = ''
  return {
    terminal: {
      answer: (text) => (printed += text),
      say: (text) => (said += text),
      directory: '/',
      environment: {},
      style: styleFor({}, {}),
      redactor: plainRedactor,
      keepSecret: () => undefined,
      stopSignal: () => new AbortController().signal,
      ...given,
    },
    printed: () => printed,
    said: () => said,
  }
}
