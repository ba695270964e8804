/**
 * A text that cannot leave its line nor speak to the terminal: control characters are written as escapes. Names of
 * objects and answers of servers are other people's text, and may hold anything.
 */
export function oneLine(text: string): string {
  return text.replace(
    CONTROL,
    (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The same, where every character has to keep its place: a blank for each of them. */
export function blankControls(text: string): string {
  return text.replace(CONTROL, ' ')
}

// eslint-disable-next-line no-control-regex -- control characters are what we are after
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The beginning of a text, with a sign that there was more. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`
}
