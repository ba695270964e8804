/**
 * Schemas for single values of the configuration. Each takes values of a file (text, numbers) and of a variable or a flag
 * (always text), and names what it expects instead of a wrong one.
 */

import { z } from 'zod'
import { RETENTION_MAX_MS } from '../limits.ts'
import { shortened } from '../../base/one-line.ts'
import { parseDuration, parseSize } from '../../base/quantities.ts'

/** Text that is not empty. */
export function textSchema(): z.ZodType<string> {
  return reading('text (put quotes around a number)', (raw) =>
    typeof raw === 'string' && raw.trim() !== '' ? raw : undefined,
  )
}

/** Like `textSchema`, but the message does not repeat the value. */
export function secretSchema(): z.ZodType<string> {
  return z.custom<string>((raw) => typeof raw === 'string' && raw !== '', {
    error: 'expected text (put quotes around a number)',
  })
}

export function choiceSchema<const Choice extends string>(choices: readonly Choice[]): z.ZodType<Choice> {
  return reading(`one of ${choices.join(', ')}`, (raw) => choices.find((choice) => choice === raw))
}

export function wholeNumberSchema(range: {
  readonly least: number
  readonly most: number
}): z.ZodType<number> {
  return reading(`a whole number from ${range.least} to ${range.most}`, (raw) => {
    const number = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw
    if (typeof number !== 'number' || !Number.isInteger(number)) return undefined
    return number >= range.least && number <= range.most ? number : undefined
  })
}

/** A number of bytes, as people write it; 0 needs no unit. */
export function sizeSchema(): z.ZodType<number> {
  return reading('a size such as 10GiB, 64MiB or 1g, or 0', (raw) => {
    if (raw === 0 || raw === '0') return 0
    return typeof raw === 'string' ? parseSize(raw) : undefined
  })
}

/** How long something is kept, as people write it; `forever` has no end. */
export function retentionSchema(): z.ZodType<number> {
  return reading('a duration such as 30s, 5m, 12h or 30d, or "forever"', (raw) => {
    if (raw === 'forever') return Infinity
    const durationMs = typeof raw === 'string' ? parseDuration(raw) : undefined
    return durationMs !== undefined && durationMs <= RETENTION_MAX_MS ? durationMs : undefined
  })
}

export function flagSchema(): z.ZodType<boolean> {
  return reading('true or false', (raw) => {
    if (typeof raw === 'boolean') return raw
    return raw === 'true' ? true : raw === 'false' ? false : undefined
  })
}

/** An http or https address without credentials: those have settings of their own, which are kept secret. */
export function addressSchema(): z.ZodType<string> {
  return z.unknown().transform((raw, context) => {
    const url = typeof raw === 'string' && URL.canParse(raw) ? new URL(raw) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      return refuse(context, `expected an address such as http://127.0.0.1:8000, not ${quoted(raw)}`)
    }
    if (url.username !== '' || url.password !== '') {
      return refuse(context, 'an address must not contain credentials; they have settings of their own')
    }
    return url.search === '' && url.hash === ''
      ? url.href.replace(/\/+$/, '')
      : refuse(context, `expected an address without query and fragment, not ${quoted(raw)}`)
  })
}

function reading<Value>(wanted: string, read: (raw: unknown) => Value | undefined): z.ZodType<Value> {
  return z.unknown().transform((raw, context) => {
    return read(raw) ?? refuse(context, `expected ${wanted}, not ${quoted(raw)}`)
  })
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

function quoted(raw: unknown): string {
  const text = raw instanceof Date ? raw.toISOString() : (JSON.stringify(raw) as string | undefined)
  // It may contain a password in the wrong place.
  return shortened((text ?? 'nothing').replace(/:\/\/[^\s/?#]*@/g, '://…@'), 60)
}
