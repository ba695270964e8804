import { RETRY_AFTER_MAX_MS } from './limits.ts'

/**
 * Reads a `Retry-After` header: whole seconds or an HTTP date. `undefined` when it is absent or unreadable; a date in
 * the past means "now".
 *
 * ```ts
 * parseRetryAfter('2', new Date()) // 2000
 * ```
 */
export function parseRetryAfter(header: string | null | undefined, now: Date): number | undefined {
  const text = header?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_MAX_MS)
  // Date.parse takes far more than HTTP dates ("-1", "1.5"): ask for a day name first, as all three forms have one.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined
  // asctime dates name no zone; HTTP says they are in GMT, Date.parse would take local time.
  const at = Date.parse(/GMT$/i.test(text) ? text : `${text} GMT`)
  if (Number.isNaN(at)) return undefined
  return Math.min(Math.max(0, at - now.getTime()), RETRY_AFTER_MAX_MS)
}
