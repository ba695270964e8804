/** What a command is given of the outside: where to write, what it was told, and when to stop. */

import type { Redactor } from '../base/redaction.ts'

export interface Terminal {
  /** Answers, and nothing else. */
  readonly answer: (text: string) => void
  /** Everything said about the work: notes, warnings, errors. */
  readonly say: (text: string) => void
  /** Asks whoever sits there; absent where nobody does. */
  readonly ask?: (question: string) => Promise<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** For what is said; plain where no terminal shows it or NO_COLOR asks so. */
  readonly style: Style
  /** Knows every secret that `keepSecret` was told. */
  readonly redactor: Redactor
  readonly keepSecret: (secret: string) => void
  /** Aborted by the first SIGINT or SIGTERM from now on; a second one ends the process at once. */
  readonly stopSignal: () => AbortSignal
}

export interface Style {
  readonly bad: (text: string) => string
  readonly good: (text: string) => string
  readonly faint: (text: string) => string
}

const PLAIN: Style = { bad: same, good: same, faint: same }
const COLOURED: Style = { bad: colour(31), good: colour(32), faint: colour(2) }

/** https://no-color.org: any value but the empty one turns colours off. */
export function styleFor(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Style {
  const isWanted =
    stream.isTTY === true && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb'
  return isWanted ? COLOURED : PLAIN
}

function colour(code: number): (text: string) => string {
  return (text) => `\u001b[${code}m${text}\u001b[0m`
}

function same(text: string): string {
  return text
}
