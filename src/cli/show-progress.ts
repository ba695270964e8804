/**
 * How far something is that takes long: a line that is drawn again and again on a terminal, now and then a line of its own elsewhere,
 * with `--json` one document each. What is quick shows nothing.
 */

import { oneLine } from '../base/one-line.ts'
import type { Terminal } from './terminal.ts'

export interface Shown {
  readonly what: string
  readonly done: number
  readonly total?: number | undefined
  /** More about it, for people. */
  readonly more?: string | undefined
  /** For programs. */
  readonly fields: Readonly<Record<string, unknown>>
}

export interface ProgressShow {
  tell(shown: Shown): void
  /** Takes away what is drawn: something else is written, or that step has ended. */
  clear(): void
}

export type ProgressMode = 'bar' | 'lines' | 'json'

/** After how long the first is shown, and how long then until the next. */
const TIMES: Readonly<Record<ProgressMode, { readonly firstMs: number; readonly nextMs: number }>> = {
  bar: { firstMs: 500, nextMs: 100 },
  lines: { firstMs: 5_000, nextMs: 5_000 },
  json: { firstMs: 2_000, nextMs: 1_000 },
}
const BAR_CHARS = 24
const CLEAR_LINE = '\r\u001b[K'

export function showProgress(
  { say }: Pick<Terminal, 'say'>,
  {
    mode,
    nowMs = () => performance.now(),
    columns = () => process.stderr.columns,
  }: {
    readonly mode: ProgressMode
    readonly nowMs?: () => number
    readonly columns?: () => number | undefined
  },
): ProgressShow {
  const { firstMs, nextMs } = TIMES[mode]
  let current: string | undefined
  let dueAtMs = 0
  let isDrawn = false
  const clear = (): void => {
    if (isDrawn) say(CLEAR_LINE)
    isDrawn = false
  }
  return {
    clear() {
      clear()
      current = undefined
    },
    tell(shown) {
      if (shown.what !== current) {
        clear()
        current = shown.what
        dueAtMs = nowMs() + firstMs
      }
      if (nowMs() < dueAtMs) return
      dueAtMs = nowMs() + nextMs
      if (mode === 'json') say(`${JSON.stringify({ progress: { what: shown.what, ...shown.fields } })}\n`)
      else if (mode === 'lines') say(`${renderShown(shown)}\n`)
      else {
        // A line that wraps could not be drawn again.
        say(`${CLEAR_LINE}${renderBar(shown)}`.slice(0, CLEAR_LINE.length + (columns() ?? 80) - 1))
        isDrawn = true
      }
    },
  }
}

function renderBar(shown: Shown): string {
  const share = shareOf(shown)
  if (share === undefined) return renderShown(shown)
  const filled = Math.round(share * BAR_CHARS)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_CHARS - filled)}] ${renderShown(shown)}`
}

function renderShown(shown: Shown): string {
  const { what, done, total, more } = shown
  const share = shareOf(shown)
  const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %`
  return oneLine(
    [percent, what, more ?? `${done}${total === undefined ? '' : ` of ${total}`}`].filter(Boolean).join('  '),
  )
}

function shareOf({ done, total }: Shown): number | undefined {
  return total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, done / total))
}
