/**
 * Sends the spans of an engine to a collector over OTLP, which Jaeger and most others take: HTTP with JSON, see
 * https://opentelemetry.io/docs/specs/otlp/. Spans that a collector does not take are dropped: an engine never waits for one.
 */

import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import type { EngineObserver } from '../../engine/telemetry/engine-events.ts'
import { spansOf, type EngineSpan } from '../../engine/telemetry/spans.ts'
import {
  SPANS_PER_REQUEST,
  SPANS_WAITING_MAX,
  SPAN_EXPORT_INTERVAL_MS,
  SPAN_EXPORT_TIMEOUT_MS,
} from '../limits.ts'

export interface ExportSpansOptions {
  /** Such as `http://localhost:4318`; `/v1/traces` is added. */
  readonly endpoint: string
  /** The `service.name` under which the collector shows the spans. Default: `perago`. */
  readonly serviceName?: string
  /** For a collector that asks who sends. */
  readonly headers?: Readonly<Record<string, string>>
  /** Gets a warning when the collector begins to fail, once per outage. */
  readonly logger: Logger
}

export interface SpanExport {
  /** To be given to `openEngine` as one of its observers. */
  readonly observe: EngineObserver
  /** Sends what waits. May be called twice. */
  close(): Promise<void>
}

/**
 * ```ts
 * const spans = exportSpans({ endpoint: 'http://localhost:4318', logger })
 * const engine = await openEngine({ store, observers: [spans.observe], traceShare: 0.1 })
 * ```
 */
export function exportSpans(options: ExportSpansOptions): SpanExport {
  const sender = new SpanSender(options)
  const timer = setInterval(() => sender.sendSoon(), SPAN_EXPORT_INTERVAL_MS)
  timer.unref()
  return {
    observe: (event) => sender.add(spansOf(event)),
    close: once(async () => {
      clearInterval(timer)
      await sender.send()
    }),
  }
}

class SpanSender {
  readonly #options: ExportSpansOptions
  #waiting: EngineSpan[] = []
  #dropped = 0
  #sending: Promise<void> | undefined
  #isFailing = false

  constructor(options: ExportSpansOptions) {
    this.#options = options
  }

  add(spans: readonly EngineSpan[]): void {
    for (const span of spans) {
      if (this.#waiting.length < SPANS_WAITING_MAX) this.#waiting.push(span)
      else this.#dropped += 1
    }
    if (this.#waiting.length >= SPANS_PER_REQUEST) this.sendSoon()
  }

  /** What goes wrong is told to the logger. */
  sendSoon(): void {
    this.send().catch(() => undefined)
  }

  /** All that waits now; one request at a time. */
  send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, SPANS_PER_REQUEST)
      const why = await this.#post(spans)
      if (why === undefined) {
        this.#isFailing = false
        continue
      }
      this.#dropped += spans.length
      this.#tell(why)
      return
    }
  }

  /** `undefined`: the collector has taken them. */
  async #post(spans: readonly EngineSpan[]): Promise<string | undefined> {
    const { endpoint, headers } = this.#options
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(this.#render(spans)),
        signal: AbortSignal.timeout(SPAN_EXPORT_TIMEOUT_MS),
      })
      await response.arrayBuffer()
      return response.ok ? undefined : `it answered ${response.status}`
    } catch (error) {
      return error instanceof Error
        ? (error.cause instanceof Error ? error.cause : error).message
        : String(error)
    }
  }

  /** Once per outage. */
  #tell(why: string): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#options.logger.warn(
      'spans could not be sent to the collector, and are dropped until it takes them',
      {
        why,
        dropped: this.#dropped,
      },
    )
  }

  #render(spans: readonly EngineSpan[]): object {
    const { serviceName = 'perago' } = this.#options
    const resource = { attributes: attributesOf({ 'service.name': serviceName }) }
    return {
      resourceSpans: [
        { resource, scopeSpans: [{ scope: { name: 'perago' }, spans: spans.map(renderSpan) }] },
      ],
    }
  }
}

const INTERNAL = 1
const STATUS_ERROR = 2

function renderSpan(span: EngineSpan): object {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, attributes, error } = span
  return {
    ...{ traceId, spanId, name, kind: INTERNAL },
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    startTimeUnixNano: nanosecondsOf(startMs),
    endTimeUnixNano: nanosecondsOf(endMs),
    attributes: attributesOf(attributes),
    ...(error === undefined ? {} : { status: { code: STATUS_ERROR, message: error } }),
  }
}

/** As text: the number has more digits than JSON's numbers keep. */
function nanosecondsOf(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n)
}

function attributesOf(attributes: EngineSpan['attributes']): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
