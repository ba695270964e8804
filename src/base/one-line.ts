/**
 * Writes control characters as escapes, so that a text stays on its line and cannot control the terminal. Names of objects and
 * responses of servers may contain anything.
 */
export function oneLine(text: string): string {
  return text.replace(CONTROL, (character) => SHORT[character] ?? escaped(character))
}

/**
 * A JSON document with what JSON may leave as it is escaped too: control characters above ASCII, and characters without a width, among
 * them those that change the direction of a text. It is the same document, and cannot control a terminal.
 */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSEEN, (characters) =>
    // One that needs two units becomes two escapes, as JSON writes it.
    characters.replaceAll(/[^]/g, escaped),
  )
}

/** Replaces each control character by a blank, so that positions do not change. */
export function blankControls(text: string): string {
  return text.replace(CONTROL, ' ')
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const UNSEEN = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu
// eslint-disable-next-line no-control-regex -- they are to be replaced
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The beginning of a text, with its length where it was cut. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`
}
