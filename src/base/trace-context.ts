/** Where a call belongs in a trace, as W3C Trace Context writes it: https://www.w3.org/TR/trace-context/ */

import { createHash, randomBytes } from 'node:crypto'

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the span of the caller. */
  readonly spanId: string
  /** Whether the caller records its spans. */
  readonly isSampled: boolean
}

const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<trace>[0-9a-f]{32})-(?<span>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/

/** `undefined` for what the standard says to ignore: then the receiver starts a trace of its own. */
export function parseTraceparent(header: string | null | undefined): TraceContext | undefined {
  const { version, trace, span, flags, more } = TRACEPARENT.exec(header?.trim() ?? '')?.groups ?? {}
  if (version === undefined || trace === undefined || span === undefined || flags === undefined)
    return undefined
  const isUnknown = version === 'ff' || (version === '00' && more !== undefined)
  if (isUnknown || /^0+$/.test(trace) || /^0+$/.test(span)) return undefined
  return { traceId: trace, spanId: span, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

export function makeTraceId(): string {
  return randomBytes(16).toString('hex')
}

/** The span of something that has a name of its own: always the same, so that nobody has to remember it. */
export function spanIdOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16)
}

/** Whether a trace is among the recorded share. Everybody who is asked about the same trace with the same share says the same. */
export function isInSample(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-13), 16) < share * 2 ** 52
}
