// Plans on a clock that moves only when told to, with everything that they log.
import type { Logger, LogFields } from '../../src/base/logger.ts'
import { HandlerRegistry } from '../../src/engine/plans/handler-registry.ts'
import { PlanRegistry, type PlanRegistryOptions } from '../../src/engine/plans/plan-registry.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: LogFields
}

export interface PlanWorld {
  readonly clock: ManualClock
  readonly registry: PlanRegistry
  readonly handlers: HandlerRegistry
  readonly lines: LogLine[]
  /** Runs `work` with this world's registry, and the clock along with it. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export function openPlanWorld(options: PlanRegistryOptions = {}): PlanWorld {
  const clock = new ManualClock()
  const lines: LogLine[] = []
  const handlers = new HandlerRegistry()
  const registry = new PlanRegistry({ clock, handlers, logger: recordingLogger(lines), ...options })
  return { clock, registry, handlers, lines, run: (work) => clock.run(registry.use(work)) }
}

export function recordingLogger(lines: LogLine[], more: LogFields = {}): Logger {
  const note =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields: { ...more, ...fields } })
    }
  return {
    trace: note('trace'),
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    child: (fields) => recordingLogger(lines, { ...more, ...fields }),
  }
}

/** Lets everything go on that waits for no time. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
