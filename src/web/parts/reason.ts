/** What is in the text of a failure: what happened, its code, and what to do next. Pure. */

export interface Reason {
  readonly what: string
  readonly code: string | undefined
  readonly next: string | undefined
}

const CODE = /^([\s\S]*?) \[([a-z]+(?:-[a-z]+)*\/[a-z0-9-]+)\]\.?\s*([\s\S]*)$/

/** How an engine tells why a workflow failed. */
const OF_TASK = /^Task \S+ failed with status: \S+ and reason: '([\s\S]*)'$/

/** A text around the ids of commits in it; these have 64 digits, or 40. */
export function splitIds(text: string): readonly { readonly text: string; readonly id?: string }[] {
  return text
    .split(/\b([0-9a-f]{64}|[0-9a-f]{40})\b/)
    .map((part, index) => (index % 2 === 0 ? { text: part } : { text: part.slice(0, 8), id: part }))
    .filter((part) => part.text !== '')
}

export function shortenIds(text: string): string {
  return splitIds(text)
    .map((part) => part.text)
    .join('')
}

/** Ours have the form `what [room/code]. What to do next.` */
export function readReason(told: string): Reason {
  const text = OF_TASK.exec(told)?.[1] ?? told
  const [, what, code, next] = CODE.exec(text) ?? []
  if (what === undefined) return { what: text, code: undefined, next: undefined }
  return { what, code, next: next === '' ? undefined : next }
}
