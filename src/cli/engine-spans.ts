/** Spans of the engine, where a collector is named as OpenTelemetry's tools name it. */

import { InvalidError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import type { EngineOptions } from '../engine/host/open-engine.ts'
import { exportSpans } from '../runtime/telemetry/export-spans.ts'

export interface EngineSpans {
  /** To be given to the engine. */
  readonly seen: Required<Pick<EngineOptions, 'observers'>> & Pick<EngineOptions, 'traceShare'>
  readonly close: () => Promise<void>
}

export function openSpans(
  environment: Readonly<Record<string, string | undefined>>,
  { logger }: { readonly logger: Logger },
): EngineSpans {
  const traceShare = shareIn(environment)
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT']
  const spans = endpoint === undefined || endpoint === '' ? undefined : exportSpans({ endpoint, logger })
  return {
    seen: {
      observers: spans === undefined ? [] : [spans.observe],
      ...(traceShare === undefined ? {} : { traceShare }),
    },
    close: () => spans?.close() ?? Promise.resolve(),
  }
}

const SHARE = 'OTEL_TRACES_SAMPLER_ARG'

function shareIn(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = environment[SHARE]
  if (text === undefined || text === '') return undefined
  const share = Number(text)
  if (share >= 0 && share <= 1) return share
  throw new InvalidError('cli/bad-trace-share', `read ${SHARE}: ${JSON.stringify(text)} is not from 0 to 1`, {
    next: 'Set it to a number such as 0.1, or leave it out.',
  })
}
