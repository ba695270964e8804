/** The output of a program, line by line. */

import { BODY_LINE_MAX_CHARS } from '../limits.ts'

/** Empty lines are left out, and long ones cut. */
export function relayLines(stream: NodeJS.ReadableStream, tell: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = (lines.pop() ?? '').slice(-BODY_LINE_MAX_CHARS)
    for (const line of lines) if (line.trim() !== '') tell(line.slice(0, BODY_LINE_MAX_CHARS))
  })
  // Without `end` if the stream was destroyed.
  stream.on('close', () => {
    if (rest.trim() !== '') tell(rest)
  })
}
