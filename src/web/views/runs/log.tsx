/** The log of a task, as it is written. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, unlessGone, type Schemas } from '../../api.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { kindOfLine, readProgress } from './task-log.ts'
import type { Task } from '../../parts/run-state.ts'

type Line = Schemas['TaskLog']['lines'][number]

const EVERY_MS = 1_500
const PAGE = 1_000
const LINES_MAX = 20_000
const SHOWN = 500

interface ReadLog {
  readonly lines: readonly Line[]
  readonly error?: unknown
  readonly isRead: boolean
}

/** Asks for what follows the known lines, while the task is open and once after it has ended. */
function useLog(run: string, task: string, isOpen: boolean): ReadLog {
  const [state, setState] = useState<ReadLog>({ lines: [], isRead: false })
  const known = useRef<readonly Line[]>([])
  useEffect(() => {
    const { signal, abort } = makeAbort()
    let timer: ReturnType<typeof setTimeout> | undefined
    const path = { workflow_id: run, task_id: task }
    const look = async (): Promise<void> => {
      let hasMore = isOpen
      try {
        const query = { after: known.current.length, limit: PAGE }
        const page = await get('/workflows/{workflow_id}/tasks/{task_id}/log', { path, query, signal })
        if (signal.aborted) return
        known.current = [...known.current, ...page.lines]
        hasMore ||= page.next_after !== undefined
        setState({ lines: known.current, isRead: true })
      } catch (error) {
        if (signal.aborted) return
        setState({ lines: known.current, error, isRead: true })
      }
      if (hasMore && known.current.length < LINES_MAX) timer = setTimeout(() => void look(), EVERY_MS)
    }
    void look()
    return () => {
      abort()
      clearTimeout(timer)
    }
  }, [run, task, isOpen])
  return state
}

function makeAbort(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const over = new AbortController()
  return { signal: over.signal, abort: () => over.abort() }
}

export function LogOf({ run, task }: { readonly run: string; readonly task: Task }) {
  const isOpen = task.status === 'SCHEDULED' || task.status === 'IN_PROGRESS'
  const { lines, error, isRead } = useLog(run, task.id, isOpen)
  return (
    <section class="log">
      <h2>Log</h2>
      <ProgressOf lines={lines} isOpen={isOpen} />
      <Problem error={unlessGone(error)} />
      {lines.length > 0 ? (
        <Lines lines={lines} isOpen={isOpen} />
      ) : isRead ? (
        error === undefined && (
          <Empty>
            {isOpen
              ? 'Nothing has been logged yet.'
              : 'It has logged nothing: `log.info(…)` in a body writes here.'}
          </Empty>
        )
      ) : (
        <Loading />
      )}
    </section>
  )
}

function ProgressOf({ lines, isOpen }: { readonly lines: readonly Line[]; readonly isOpen: boolean }) {
  const progress = readProgress(lines.map(({ text }) => text))
  if (progress === undefined || !isOpen) return null
  const { done, total, what = '' } = progress
  return (
    <p class="bar">
      {total !== undefined && <progress max={total} value={done} aria-label="Progress" />}
      <span>
        {done}
        {total !== undefined && ` of ${String(total)}`} {what}
      </span>
    </p>
  )
}

const NEAR_PX = 40

/** The end stays in sight for a reader who is there. */
function Lines({ lines, isOpen }: { readonly lines: readonly Line[]; readonly isOpen: boolean }) {
  const [shown, setShown] = useState(SHOWN)
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(isOpen)
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [lines.length])
  const left = lines.length - shown
  const hasTimes = lines.some(({ at }) => at !== undefined)
  return (
    <>
      {left > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + 10 * SHOWN)}>
          {left} earlier lines
        </button>
      )}
      <div
        class="log-lines mono"
        ref={box}
        tabIndex={0}
        role="log"
        aria-label="Log"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
        }}
      >
        {lines.slice(-shown).map(({ at, text }, index) => (
          <div key={Math.max(0, left) + index} class={`log-${kindOfLine(text)}`}>
            {hasTimes && <span class="faint">{at?.slice(11, 19) ?? ''} </span>}
            {text}
          </div>
        ))}
      </div>
    </>
  )
}
