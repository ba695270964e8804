/** Finds secrets in a text: known values, and forms that always contain a secret. */

import { decodedViews, type TextView } from './decoded-views.ts'
import { REDACTION_MIN_SECRET_CHARS } from './limits.ts'

/** From `start` (included) to `end` (excluded). */
export interface Span {
  readonly start: number
  readonly end: number
}

export type FindSecrets = (text: string) => readonly Span[]

/** The spans may overlap. */
export function secretFinder(secrets: Iterable<string>): FindSecrets {
  const findKnown = knownSecretFinder(secrets)
  return (text) => [...formSpans(text), ...findKnown(text)]
}

/** The known values alone. Secrets too short to differ from ordinary text are ignored. */
export function knownSecretFinder(secrets: Iterable<string>): FindSecrets {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= REDACTION_MIN_SECRET_CHARS)
  const encoded = [...new Set(known.flatMap(base64Cores))]
  return (text) => {
    if (known.length === 0) return []
    const spans: Span[] = []
    for (const view of decodedViews(text)) {
      for (const secret of known) spans.push(...occurrences(view, secret))
      for (const core of encoded) spans.push(...occurrences(view, core, widenOverBase64))
    }
    return spans
  }
}

const SENSITIVE_KEY =
  /(?:secret|password|passwd|passphrase|pwd|authorization|cookie|credentials?|signature|(?:secret|private|api|encryption|encrypt|secretaccess)key|token)$/
const HARMLESS_KEY = /(?:next|page|continuation)token$/

/** True for names such as `secretAccessKey`, `PASSWORD` or `X-Amz-Signature`, whose values are never shown. */
export function isSensitiveKey(key: string): boolean {
  const plain = key.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SENSITIVE_KEY.test(plain) && !HARMLESS_KEY.test(plain)
}

/**
 * Base64 of a secret inside longer content, such as `key:secret` in Basic authentication. There are three forms, depending
 * on the number of bytes before it. The digits at the ends depend on the neighbours: they are left out here, and the match
 * is widened to include them.
 */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  return [0, 1, 2].flatMap((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const core = digits.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function* occurrences(view: TextView, wanted: string, widen = asItIs): Generator<Span> {
  // Advance by one, not by the length: "aaaaaa" is in "aaaaaaa" twice, and both must be hidden.
  for (let at = view.text.indexOf(wanted); at !== -1; at = view.text.indexOf(wanted, at + 1)) {
    const { start, end } = widen(view.text, { start: at, end: at + wanted.length })
    yield { start: view.origin(start), end: view.origin(end) }
  }
}

function asItIs(_text: string, span: Span): Span {
  return span
}

function widenOverBase64(text: string, span: Span): Span {
  let { start, end } = span
  while (start > 0 && /[A-Za-z0-9+/_-]/.test(text.charAt(start - 1))) start--
  while (end < text.length && /[A-Za-z0-9+/_=-]/.test(text.charAt(end))) end++
  return { start, end }
}

// A bounded number of spaces: an unbounded look-behind would take quadratic time.
/** `scheme://user:password@`: all of it, since tokens are often sent as the user name. */
const USER_INFO = /(?<=:\/\/)[^\s/?#"'<>]+(?=@)/g
const BASIC = /(?<=\bBasic\s{1,4})[A-Za-z0-9+/_-]{4,}={0,2}/gi
const BEARER = /(?<=\bBearer\s{1,4})[A-Za-z0-9._~+/-]{16,}=*/gi
const AUTHORIZATION = /(?<=\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?)(?:[A-Za-z]+[ \t]{1,4})?[^\s"',;]+/gi
const NAMED_VALUE =
  /(?<![A-Za-z0-9_.%-])(?<name>[A-Za-z0-9_.%-]+)(?:=|["']\s{0,4}:\s{0,4}["'])(?<value>[^\s"'&#,;<>]+)/g

function* formSpans(text: string): Generator<Span> {
  for (const match of text.matchAll(USER_INFO)) yield spanOf(match.index, match[0])
  for (const match of text.matchAll(AUTHORIZATION)) yield spanOf(match.index, match[0])
  for (const match of text.matchAll(BEARER)) yield spanOf(match.index, match[0])
  for (const match of text.matchAll(BASIC)) {
    // "Basic" is also an ordinary word: only text that decodes to user:password counts.
    if (Buffer.from(match[0], 'base64').toString('utf8').includes(':')) yield spanOf(match.index, match[0])
  }
  for (const match of text.matchAll(NAMED_VALUE)) {
    const { name = '', value = '' } = match.groups ?? {}
    if (isSensitiveKey(name) || name === 'sig')
      yield spanOf(match.index + match[0].length - value.length, value)
  }
}

function spanOf(start: number, text: string): Span {
  return { start, end: start + text.length }
}
