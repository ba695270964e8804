/** What a command gets from its process: where to write, its environment, and when to stop. */

import type { Redactor } from '../base/redaction.ts'

export interface Terminal {
  /** Writes results, and nothing else. */
  readonly answer: (text: string) => void
  /** Writes notes, warnings and errors. */
  readonly say: (text: string) => void
  /** Asks the user; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>
  /** Reads standard input. */
  readonly input?: () => AsyncIterable<Uint8Array>
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Colours for `say`; none without a terminal or with NO_COLOR. */
  readonly style: Style
  /** Removes every secret that `keepSecret` got. */
  readonly redactor: Redactor
  readonly keepSecret: (secret: string) => void
  /** Aborted by the first SIGINT or SIGTERM after the call; a second one ends the process at once. */
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
