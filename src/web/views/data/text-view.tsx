/** Lines of a text, or what differs between two. */

import { useMemo, useState } from 'preact/hooks'
import { diffLists, foldSame, linesOf, type Piece, type Step } from './line-diff.ts'
import { VirtualBox } from './virtual-box.tsx'

const LINES_MAX = 20_000
const LINE_CHARS_MAX = 2_000
const ROW_PX = 20
const SIGNS: Readonly<Record<Step['kind'], string>> = { same: ' ', removed: '−', added: '+' }
const SPOKEN: Readonly<Record<Step['kind'], string>> = { same: '', removed: 'removed: ', added: 'added: ' }

export interface TextViewProps {
  readonly before: string | undefined
  readonly after: string | undefined
}

export function TextView({ before, after }: TextViewProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const isCompared = before !== undefined && after !== undefined
  const { old, now, difference, isCut, chars } = useMemo(() => compare(before, after), [before, after])
  const pieces: readonly Piece[] = useMemo(
    () => (isCompared ? foldSame(difference.steps, opened) : difference.steps.map((step) => ({ step }))),
    [difference, opened, isCompared],
  )
  const open = (from: number): void => setOpened((before) => new Set([...before, from]))
  if (isCompared && before === after) return <p class="note">The two are the same.</p>
  return (
    <>
      {isCut && <p class="note">Only the first {LINES_MAX.toLocaleString()} lines are shown.</p>}
      {!difference.isAligned && (
        <p class="note">They differ too much to be lined up: first what was there, then what is.</p>
      )}
      <VirtualBox
        label={isCompared ? 'Lines that differ' : 'Lines'}
        role="group"
        count={pieces.length}
        rowPx={ROW_PX}
        chars={chars + (isCompared ? 14 : 8)}
        row={(index) => {
          const piece = pieces[index]
          if (piece === undefined) return null
          return 'step' in piece ? (
            <LineRow key={index} {...{ step: piece.step, old, now, isCompared }} />
          ) : (
            <div key={index} class="line skipped">
              <button type="button" class="quiet" onClick={() => open(piece.from)}>
                {piece.skipped.length} equal lines
              </button>
            </div>
          )
        }}
      />
    </>
  )
}

function LineRow({
  step: { kind, before, after },
  old,
  now,
  isCompared,
}: {
  readonly step: Step
  readonly old: readonly string[]
  readonly now: readonly string[]
  readonly isCompared: boolean
}) {
  const line = (kind === 'removed' ? old[before] : now[after]) ?? ''
  // Two lines may differ in nothing else.
  const text = kind === 'same' ? line : line.replace(/\r$/, '␍')
  const number = (place: number): string => (place < 0 ? '' : String(place + 1))
  return (
    <div class={isCompared ? `line line-${kind}` : 'line'}>
      {isCompared && <span class="line-number">{number(before)}</span>}
      <span class="line-number">{number(after)}</span>
      {isCompared && <span aria-hidden="true">{SIGNS[kind]} </span>}
      {isCompared && kind !== 'same' && <span class="spoken">{SPOKEN[kind]}</span>}
      <span>{text.length > LINE_CHARS_MAX ? `${text.slice(0, LINE_CHARS_MAX)}…` : text}</span>
    </div>
  )
}

function compare(before: string | undefined, after: string | undefined) {
  const [one, other] = [linesOf(before ?? after ?? ''), linesOf(after ?? before ?? '')]
  const old = one.slice(0, LINES_MAX)
  const now = other.slice(0, LINES_MAX)
  const longest = (lines: readonly string[]): number =>
    lines.reduce((most, line) => Math.max(most, line.length), 0)
  return {
    ...{ old, now, difference: diffLists(old, now) },
    isCut: one.length > LINES_MAX || other.length > LINES_MAX,
    chars: Math.min(LINE_CHARS_MAX, Math.max(longest(old), longest(now))),
  }
}
