/** What a program prints, line by line, however it was cut on its way. */

import { BODY_LINE_MAX_CHARS } from '../limits.ts'

/** Lines that say nothing are left out, and endless ones cut. */
export function relayLines(stream: NodeJS.ReadableStream, tell: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = (lines.pop() ?? '').slice(-BODY_LINE_MAX_CHARS)
    for (const line of lines) if (line.trim() !== '') tell(line.slice(0, BODY_LINE_MAX_CHARS))
  })
  stream.on('end', () => {
    if (rest.trim() !== '') tell(rest)
  })
}
