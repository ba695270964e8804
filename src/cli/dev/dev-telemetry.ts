/** What the engine of `perago dev` tells of itself: metrics, and spans where a collector is named as OpenTelemetry's tools name it. */

import { stat } from 'node:fs/promises'
import type { Logger } from '../../base/logger.ts'
import type { EngineOptions } from '../../engine/host/open-engine.ts'
import { openEngineMetrics, type EngineMetrics } from '../../runtime/telemetry/engine-metrics.ts'
import { openSpans } from '../engine-spans.ts'

export interface DevTelemetryOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stages: () => Iterable<string>
  /** Of the store. */
  readonly file: string
  readonly logger: Logger
}

export interface DevTelemetry {
  readonly metrics: EngineMetrics
  /** To be given to the engine. */
  readonly seen: Pick<EngineOptions, 'observers' | 'traceShare'>
  readonly close: () => Promise<void>
}

export function openDevTelemetry({ environment, stages, file, logger }: DevTelemetryOptions): DevTelemetry {
  const metrics = openEngineMetrics({ stages, storageBytes: () => bytesOf(file) })
  const { seen, close } = openSpans(environment, { logger })
  return { metrics, seen: { ...seen, observers: [metrics.observe, ...seen.observers] }, close }
}

/** SQLite keeps its newest writes in a second file. */
async function bytesOf(file: string): Promise<number> {
  const sizes = [file, `${file}-wal`].map(
    async (path) => (await stat(path).catch(() => undefined))?.size ?? 0,
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
