/**
 * A text decoded in several ways: unchanged, percent-decoded, JSON-unescaped, and combinations. A view stores the origin of
 * each character, so that what is found in a view can be removed from the original.
 */

export interface TextView {
  readonly text: string
  /** For each character of `text` (and its end) the index in the original at which it begins. */
  readonly origin: (index: number) => number
}

interface Decoded {
  readonly text: string
  readonly starts: readonly number[]
}

type Decode = (text: string) => Decoded | undefined

const DECODERS: readonly Decode[] = [decodePercent, decodePlus, decodeJsonEscapes]
/** A URL inside JSON inside JSON; deeper nesting does not occur in practice. */
const MAX_LAYERS = 3

/** The text itself first, then every view that differs from the ones before. */
export function decodedViews(text: string): readonly TextView[] {
  const views: TextView[] = [{ text, origin: (index) => index }]
  const seen = new Set([text])
  let layer = views
  for (let depth = 0; depth < MAX_LAYERS && layer.length > 0; depth++) {
    const next: TextView[] = []
    for (const view of layer) {
      for (const decode of DECODERS) {
        const decoded = decode(view.text)
        if (decoded === undefined || seen.has(decoded.text)) continue
        seen.add(decoded.text)
        next.push({
          text: decoded.text,
          origin: (index) => view.origin(decoded.starts[index] ?? view.text.length),
        })
      }
    }
    views.push(...next)
    layer = next
  }
  return views
}

function decodePercent(text: string): Decoded | undefined {
  return rewrite(text, '%', (at) => {
    const byte = hexByteAt(text, at)
    if (byte === undefined) return undefined
    const bytes = [byte]
    for (let wanted = utf8Length(byte); bytes.length < wanted;) {
      const next = hexByteAt(text, at + bytes.length * 3)
      if (next === undefined) break
      bytes.push(next)
    }
    return { decoded: Buffer.from(bytes).toString('utf8'), length: bytes.length * 3 }
  })
}

/** In forms and query strings a space is written as "+". */
function decodePlus(text: string): Decoded | undefined {
  return rewrite(text, '+', () => ({ decoded: ' ', length: 1 }))
}

function decodeJsonEscapes(text: string): Decoded | undefined {
  return rewrite(text, '\\', (at) => {
    const escape = /^\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/.exec(text.slice(at, at + 6))?.[0]
    return escape === undefined
      ? undefined
      : { decoded: JSON.parse(`"${escape}"`) as string, length: escape.length }
  })
}

function rewrite(
  text: string,
  marker: string,
  decodeAt: (at: number) => { readonly decoded: string; readonly length: number } | undefined,
): Decoded | undefined {
  if (!text.includes(marker)) return undefined
  const parts: string[] = []
  const starts: number[] = []
  for (let at = 0; at < text.length;) {
    const found = text[at] === marker ? decodeAt(at) : undefined
    const { decoded, length } = found ?? { decoded: text.charAt(at), length: 1 }
    parts.push(decoded)
    for (let unit = 0; unit < decoded.length; unit++) starts.push(at)
    at += length
  }
  starts.push(text.length)
  return { text: parts.join(''), starts }
}

function hexByteAt(text: string, at: number): number | undefined {
  const hex = /^%[0-9a-fA-F]{2}/.exec(text.slice(at, at + 3))
  return hex === null ? undefined : Number.parseInt(hex[0].slice(1), 16)
}

function utf8Length(lead: number): number {
  if (lead >= 0xf0) return 4
  if (lead >= 0xe0) return 3
  return lead >= 0xc0 ? 2 : 1
}
