/** The line of a task's log about the steps of an attempt: names, times and lengths, written by a worker, read by whoever shows the task. */

import { STEPS_LINE_MAX_CHARS } from '../limits.ts'
import { isEndLine } from './publication-lines.ts'

export interface ToldStep {
  readonly step: string
  /** When it began, in UTC with milliseconds. */
  readonly at: string
  readonly ms: number
}

const PREFIX = 'steps: '

/** The shortest are left out where all would be too long. */
export function tellSteps(steps: readonly ToldStep[]): string {
  const told = [...steps]
  for (;;) {
    const line = `${PREFIX}${JSON.stringify(told)}`
    if (line.length <= STEPS_LINE_MAX_CHARS) return line
    const shortest = Math.min(...told.map(({ ms }) => ms))
    told.splice(
      told.findIndex(({ ms }) => ms === shortest),
      1,
    )
  }
}

/** A worker writes it after the line that tells how the attempt ended; what a body logs comes before that. */
export function readStepsLine(lines: readonly string[]): readonly ToldStep[] | undefined {
  const at = lines.findLastIndex((line) => line.startsWith(PREFIX))
  const endedAt = lines.findLastIndex(isEndLine)
  const line = lines[at]
  if (line === undefined || endedAt === -1 || at < endedAt || line.length > STEPS_LINE_MAX_CHARS)
    return undefined
  const steps = parse(line.slice(PREFIX.length))
  if (!Array.isArray(steps) || steps.length === 0 || !steps.every(isStep)) return undefined
  return steps.map(({ step, at: beganAt, ms }) => ({ step, at: beganAt, ms }))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const NAME = /^[a-z]+(?:-[a-z]+)*(?:\/[a-z]+(?:-[a-z]+)*)?$/

function isStep(value: unknown): value is ToldStep {
  if (typeof value !== 'object' || value === null) return false
  const { step, at, ms } = value as Readonly<Record<string, unknown>>
  if (typeof step !== 'string' || typeof at !== 'string') return false
  return NAME.test(step) && isTime(at) && Number.isSafeInteger(ms) && (ms as number) >= 0
}

function isTime(text: string): boolean {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}
