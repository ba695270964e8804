/** What a body said with `progress()`, as a line. */

export type ProgressTold = readonly [done: number, total?: number | undefined, what?: string | undefined]

/** `progress: 3 of 10 files (30 %)` */
export function describeProgress([done, total, what]: ProgressTold): string {
  const of = total === undefined ? '' : ` of ${total}`
  const share = shareOf([done, total])
  const percent = share === undefined ? '' : ` (${Math.floor(share * 100)} %)`
  return `progress: ${done}${of}${what === undefined ? '' : ` ${what}`}${percent}`
}

/** From 0 to 1; `undefined` where the whole is not known. */
export function shareOf([done, total]: ProgressTold): number | undefined {
  if (total === undefined || !(total > 0) || !Number.isFinite(done)) return undefined
  return Math.min(1, Math.max(0, done / total))
}
