/** What is in the text of a failure: what happened, its code, and what to do next. Pure. */

export interface Reason {
  readonly what: string
  readonly code: string | undefined
  readonly next: string | undefined
}

const CODE = /^([\s\S]*?) \[([a-z]+(?:-[a-z]+)*\/[a-z0-9-]+)\]\.?\s*([\s\S]*)$/

/** How an engine tells why a workflow failed. */
const OF_TASK = /^Task \S+ failed with status: \S+ and reason: '([\s\S]*)'$/

/** Ours have the form `what [room/code]. What to do next.` */
export function readReason(told: string): Reason {
  const text = OF_TASK.exec(told)?.[1] ?? told
  const [, what, code, next] = CODE.exec(text) ?? []
  if (what === undefined) return { what: text, code: undefined, next: undefined }
  return { what, code, next: next === '' ? undefined : next }
}
