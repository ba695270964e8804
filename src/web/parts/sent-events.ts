/** Reads server-sent events out of a text that arrives in pieces. */

export interface SentEvent {
  /** The last id that the stream gave, which a client that reconnects sends. */
  readonly id: string | undefined
  readonly name: string
  readonly data: string
}

/** Takes a piece of the text, and gives the events that are complete with it. */
export type SentEventReader = (piece: string) => readonly SentEvent[]

export function readSentEvents(): SentEventReader {
  let rest = ''
  let id: string | undefined
  let name = 'message'
  let data: string[] = []
  const take = (line: string): SentEvent | undefined => {
    if (line === '') {
      const event = data.length === 0 ? undefined : { id, name, data: data.join('\n') }
      name = 'message'
      data = []
      return event
    }
    const [field = '', value = ''] = splitField(line)
    if (field === 'data') data.push(value)
    if (field === 'event') name = value
    if (field === 'id' && !value.includes('\0')) id = value
    return undefined
  }
  return (piece) => {
    const text = rest + piece
    // A carriage return at the end may be the first half of a line's end.
    const lines = text.split(text.endsWith('\r') ? /\r\n|\n|\r(?!$)/ : /\r\n|\n|\r/)
    rest = lines.pop() ?? ''
    return lines.map(take).filter((event) => event !== undefined)
  }
}

/** A line that begins with a colon is a comment, and has no field. */
function splitField(line: string): readonly string[] {
  const at = line.indexOf(':')
  if (at < 0) return [line]
  return [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')]
}
