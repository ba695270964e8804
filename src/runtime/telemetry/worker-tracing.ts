/** A worker's events as spans, for the OpenTelemetry SDK that the process has loaded, if any. Without one nothing is loaded. */

import type * as Api from '@opentelemetry/api'
import type { Context, Span, Tracer } from '@opentelemetry/api'
import { createRequire } from 'node:module'
import { parseTraceparent } from '../../base/trace-context.ts'
import type { AttemptStepEvent, WorkerObserver } from '../../worker/events.ts'

/** Where the API keeps what an SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** An SDK may be registered by the module of a task, so it is looked for with every event. */
export function traceWorker(): WorkerObserver {
  let tell: WorkerObserver | undefined
  return (event) => {
    if (tell === undefined && REGISTERED in globalThis) {
      const api = createRequire(import.meta.url)('@opentelemetry/api') as typeof Api
      tell = traceBy(api)
    }
    tell?.(event)
  }
}

/** One span for each attempt, with one child for each of its steps. */
function traceBy({ context, SpanStatusCode, trace, TraceFlags }: typeof Api): WorkerObserver {
  const attempts = new Map<string, Span>()
  // Whoever has a copy of the API of their own registers in a place that all copies ask.
  const tracer = (): Tracer => trace.getTracer('perago')
  const tellStep = (parent: Span, { step, durationMs, outcome, details, error }: AttemptStepEvent): void => {
    const endMs = Date.now()
    const below = trace.setSpan(context.active(), parent)
    const span = tracer().startSpan(`perago ${step}`, { startTime: endMs - durationMs }, below)
    span.setAttributes({ 'perago.step': step, 'perago.outcome': outcome, ...plainOf(details) })
    if (outcome !== 'done') fail(span, error)
    span.end(endMs)
  }
  /** Below the span that the queue has for the attempt, where it has one. */
  const contextOf = (traceparent: string | undefined): Context => {
    const above = parseTraceparent(traceparent)
    if (above === undefined) return context.active()
    const { traceId, spanId, isSampled } = above
    const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
    return trace.setSpanContext(context.active(), { traceId, spanId, traceFlags, isRemote: true })
  }
  const fail = (span: Span, error: unknown): void => {
    const code = (error as { readonly code?: unknown } | undefined)?.code
    span.setStatus({ code: SpanStatusCode.ERROR, ...(typeof code === 'string' ? { message: code } : {}) })
  }
  return (event) => {
    switch (event.kind) {
      case 'attempt-started': {
        const { taskName, taskId, workflowId, referenceName, retryCount, iteration } = event.attempt
        const attributes = {
          'perago.task': taskName,
          'perago.task_id': taskId,
          'perago.workflow_id': workflowId,
          'perago.reference_name': referenceName,
          'perago.attempt': retryCount,
          'perago.iteration': iteration,
        }
        const above = contextOf(event.traceparent)
        attempts.set(
          event.executionId,
          tracer().startSpan(`perago attempt ${taskName}`, { attributes }, above),
        )
        break
      }
      case 'step': {
        const parent = attempts.get(event.executionId)
        if (parent !== undefined) tellStep(parent, event.event)
        break
      }
      case 'attempt-ended': {
        const span = attempts.get(event.executionId)
        attempts.delete(event.executionId)
        const { status, delivery, action, errorCode } = event.summary
        span?.setAttributes({ 'perago.status': status, 'perago.delivery': delivery })
        if (action !== undefined) span?.setAttribute('perago.action', action)
        if (errorCode !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: errorCode })
        span?.end()
        break
      }
      case 'poll':
      case 'progress':
      case 'lease-lost':
      case 'branch-shared':
      case 'outbox':
      case 'outage-began':
      case 'outage-ended':
      case 'staging-looked':
        break
    }
  }
}

/** Attributes of spans are plain values; the rest is in the log. */
function plainOf(details: Readonly<Record<string, unknown>>): Record<string, string | number | boolean> {
  const plain: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(details)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      plain[`perago.${name}`] = value
  }
  return plain
}
