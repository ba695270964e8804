/**
 * Writes control characters as escapes, so that a text stays on its line and cannot control the terminal. Names of objects and
 * responses of servers may contain anything.
 */
export function oneLine(text: string): string {
  return text.replace(
    CONTROL,
    (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Replaces each control character by a blank, so that positions do not change. */
export function blankControls(text: string): string {
  return text.replace(CONTROL, ' ')
}

// eslint-disable-next-line no-control-regex -- they are to be replaced
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The beginning of a text, with its length where it was cut. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`
}
